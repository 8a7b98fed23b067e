// The process of a node: what it does is in `run.ts`, which is run in its compiled form.
import { compiledNode } from './compiled/compiled-node.ts';

const { entry, fault } = await compiledNode();
if (fault !== null) process.stderr.write(`the node runs from its sources, which takes more memory: ${fault}\n`);
await import(entry.href);
