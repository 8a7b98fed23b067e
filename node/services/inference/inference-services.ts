import type { Logger } from 'pino';
import { EmbeddedEngine } from './embedded/embedded-engine.ts';
import type { Engine } from './engine.ts';
import { Inference } from './inference.ts';
import { RemoteEngine } from './remote/remote-engine.ts';
import type { InferenceConfig } from './config.ts';

const DEFAULT_TIME_LIMIT_MS = 60_000;

/**
 * The model that a configuration tells of. Asks nobody anything, and loads nothing: that comes with the first prompt.
 */
export function openInference(config: InferenceConfig | null, log: Logger): Inference {
  const engineLog = log.child({ component: 'inference' });
  return new Inference({
    engine: config === null ? null : engineOf(config, engineLog),
    timeLimitMs: config?.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS,
    label: config?.label ?? null,
    log: engineLog,
  });
}

function engineOf(config: InferenceConfig, log: Logger): Engine {
  if (config.kind === 'remote') return new RemoteEngine(config);
  const engine = new EmbeddedEngine({ config, log });
  void engine.warm();
  return engine;
}
