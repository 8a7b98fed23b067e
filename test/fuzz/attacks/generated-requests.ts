import { isJsonArray, isJsonObject } from '../../../protocol/json/value.ts';
import { ApiDocument } from '../../fixtures/api-document.ts';
import { NodeClient } from '../../fixtures/node-client.ts';
import { requireAccepted } from '../../node/http/openapi/live-world.ts';
import { SEED } from '../../runner/seed.ts';
import { RequestFuzzer } from '../request-fuzzer.ts';
import { soundRequests } from '../sound-requests.ts';
import type { Attack } from './attack.ts';

/** Requests of a round, where there is no end to them. */
const ROUND = 200;

/**
 * Ids of the records that this process was told of: the same requests, sent once more, may be answered with the same.
 */
const known = new Set<string>();

/** Bad requests of every kind to every operation, made from the node's own API document. */
export const generatedRequests: Attack = async ({ port, keys, payTo }) => {
  const node = new NodeClient(`http://127.0.0.1:${port}`, keys.unmetered);
  const document = new ApiDocument((await node.get('/openapi.json')).body);
  await deleteBounded(node);
  const sounds = await soundRequests(node, document, keys.unmetered, payTo);
  return (requests) => {
    const fuzzer = new RequestFuzzer({ port, document, sounds, seed: SEED, apiKey: keys.unmetered });
    const over = new AbortController();
    const run = async (): Promise<void> => {
      for (let sent = 0; sent < requests; sent += ROUND) {
        if (over.signal.aborted) return;
        await fuzzer.run(Math.min(requests, sent + ROUND));
      }
    };
    const done = run();
    return {
      done,
      async end() {
        over.abort();
        await done;
        return { ...Object.fromEntries([...fuzzer.outcomes].sort()), recorded: countNew(fuzzer.recorded) };
      },
    };
  };
};

/** An account has few packs in the making, and few webhooks: those of an earlier round leave no room for the next one's. */
async function deleteBounded(node: NodeClient): Promise<void> {
  for (const [path, list, id] of [
    ['/v1/evidence-packs', 'packs', 'packId'],
    ['/v1/webhooks', 'webhooks', 'webhookId'],
  ] as const) {
    const items = requireAccepted(path, await node.get(path)).body[list];
    for (const item of items !== undefined && isJsonArray(items) ? items : []) {
      const at = `${path}/${isJsonObject(item) ? String(item[id]) : ''}`;
      requireAccepted(at, await node.send('DELETE', at, undefined));
    }
  }
}

function countNew(ids: Iterable<string>): number {
  const before = known.size;
  for (const id of ids) known.add(id);
  return known.size - before;
}
