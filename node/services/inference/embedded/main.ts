// Process of the embedded engine: native code works here, so that what blocks, grows or crashes is not the node.
import type { FromEngine, ToEngine } from './engine-messages.ts';
import { LlamaModel } from './llama-model.ts';

const calls = new Map<number, AbortController>();
let model: LlamaModel | undefined;

// The node is the only one that speaks here, and decides alone when this process ends.
process.on('message', (message: ToEngine) => void take(message));
process.on('disconnect', () => process.exit());
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});

async function take(message: ToEngine): Promise<void> {
  if (message.type === 'cancel') calls.get(message.call)?.abort();
  else if (message.type === 'load') await load(message);
  else await complete(message);
}

async function load({ model: setting }: Extract<ToEngine, { type: 'load' }>): Promise<void> {
  try {
    model = await LlamaModel.load(setting);
    const { name, runtime } = model;
    say({ type: 'loaded', name, runtime });
  } catch (error) {
    say({ type: 'load-failed', reason: String(error) });
  }
}

async function complete({ call, prompt }: Extract<ToEngine, { type: 'complete' }>): Promise<void> {
  const cancel = new AbortController();
  calls.set(call, cancel);
  try {
    if (model === undefined) throw new Error('no model is loaded');
    say({ ...(await model.complete(prompt, cancel.signal)), call });
  } catch (error) {
    say(cancel.signal.aborted ? { type: 'cancelled', call } : { type: 'failed', call, reason: String(error) });
  } finally {
    calls.delete(call);
  }
}

function say(message: FromEngine): void {
  if (process.connected) process.send?.(message);
}
