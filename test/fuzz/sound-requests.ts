import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { isJsonObject } from '../../protocol/json/value.ts';
import { PAYMENT_SIGNATURE_HEADER } from '../../protocol/payments/header.ts';
import type { ApiDocument, Operation } from '../fixtures/api-document.ts';
import type { NodeClient } from '../fixtures/node-client.ts';
import { LivePayer } from '../node/http/openapi/live-payer.ts';
import { LiveWorld } from '../node/http/openapi/live-world.ts';
import type { Sound } from './fuzzed-request.ts';
import { TARGET_PAYEE } from './fuzz-target.ts';

/** Life of every payment: longer than an attack. In seconds. */
const LIFE_SECONDS = 3_600;

/**
 * A sound request for every operation, made of its example; several times for one that is attacked more often. What the
 * examples name is made with the key. `payTo`: whom the node's callers pay.
 */
export async function soundRequests(
  node: NodeClient,
  document: ApiDocument,
  makerKey: string,
  payTo: string = TARGET_PAYEE,
): Promise<Sound[]> {
  const sounds: Sound[] = [];
  const validBefore = Math.floor(Date.now() / 1_000) + LIFE_SECONDS;
  for (const [index, operation] of document.operations.entries()) {
    const world = new LiveWorld({ node, document, makerKey, patience: 0 }, `h${index}`);
    const { path: whole, body = null } = await world.request(operation, 'whole');
    const [path = '', query] = whole.split('?');
    // A wallet each: the bound on the calls of one is not what is attacked.
    const wallet = privateKeyToAccount(generatePrivateKey());
    const payer = new LivePayer({ wallet, payTo, baseUrl: node.baseUrl });
    const sound = {
      operation,
      path,
      query: query === undefined ? '' : `?${query}`,
      body: isJsonObject(body) ? body : undefined,
      payment: (await payer.headers(operation, path, { validBefore }))[PAYMENT_SIGNATURE_HEADER],
    };
    for (let times = surfaceOf(operation); times > 0; times--) sounds.push(sound);
  }
  return sounds;
}

/** How often an operation is attacked, beside one that takes nothing: there is more to get wrong where more is read. */
function surfaceOf({ request, parameters }: Operation): number {
  if (request !== null) return 6;
  return parameters.length > 0 ? 3 : 1;
}
