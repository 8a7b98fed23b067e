import { setTimeout as sleep } from 'node:timers/promises';
import { httpRequest } from '../../node/outbound/http-client.ts';

/** Questions under way at once, and the pause before a record is asked about again, in milliseconds. */
const CONNECTIONS = 16;
const PAUSE_MS = 500;
const LIMITS = { timeoutMs: 30_000, maxBytes: 1 << 20 };

export interface ConfirmOptions {
  readonly nodeUrl: string;
  readonly apiKey: string;
  /** When to stop waiting, in epoch milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
  readonly onConfirmed: () => void;
}

/** Asks the node about every attestation until it is confirmed. Returns the ids that were not, in time. */
export async function confirmAll(ids: readonly string[], options: ConfirmOptions): Promise<string[]> {
  const waiting = [...ids];
  const unconfirmed: string[] = [];
  const worker = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      if (await becomesConfirmed(id, options)) options.onConfirmed();
      else unconfirmed.push(id);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  return unconfirmed;
}

async function becomesConfirmed(id: string, { nodeUrl, apiKey, deadline, signal }: ConfirmOptions): Promise<boolean> {
  while (!signal.aborted && Date.now() < deadline) {
    try {
      const url = `${nodeUrl}/v1/status/${id}`;
      const { bytes } = await httpRequest(url, { ...LIMITS, headers: { 'x-api-key': apiKey }, signal });
      if (Buffer.from(bytes).includes('"status":"confirmed"')) return true;
    } catch {
      // The node may be on its way back.
    }
    await sleep(PAUSE_MS);
  }
  return false;
}
