// A process with an engine, which tells its parent the engine's pid and waits to be killed.
import { EngineProcess } from '../../../../../node/services/inference/embedded/engine-process.ts';
import { TOY_MODEL } from '../../../../fixtures/toy-model.ts';

const [, , path = TOY_MODEL.path] = process.argv;
const engine = new EngineProcess({ ...TOY_MODEL, path });
await engine.loaded;
process.send?.(engine.pid);
