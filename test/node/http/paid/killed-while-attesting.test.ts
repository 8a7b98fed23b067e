import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { screeningRoute } from '../../../../node/http/paid/attested-screening.ts';
import { counterpartyRoute } from '../../../../node/http/paid/check-counterparty.ts';
import { NO_ITEMS } from '../../../../node/http/paid-gate.ts';
import type { PaidRoute } from '../../../../node/http/route.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { ChainError } from '../../../../node/payments/facilitator/contract.ts';
import type { Work } from '../../../../node/payments/paid-request.ts';
import { EditionSearch } from '../../../../node/screening/edition-search.ts';
import { ListsUnavailableError } from '../../../../node/screening/list-searches.ts';
import { LIST_IDS } from '../../../../node/screening/lists/list-id.ts';
import { packEdition } from '../../../../node/screening/pack-edition.ts';
import { decodeBase64url } from '../../../../protocol/bytes.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { commit } from '../../../../protocol/payload/commitment.ts';
import { editionOf, listedEntry } from '../../../fixtures/listed-entries.ts';
import { bodyOf, callOf, PAYER, PaymentFixture, START } from '../../payments/payment-fixture.ts';

const ADDRESS = `0x${'5'.repeat(40)}`;
const NAME = 'Made Up Trading';
const entries = [listedEntry('1', [NAME], { addresses: [ADDRESS] })];
const packed = await packEdition(entries);
const usable = new Map(
  LIST_IDS.map((listId) => [listId, { search: new EditionSearch(editionOf(listId, entries), packed), isStale: false }]),
);
const nobody = (): Promise<never> => Promise.reject(new ChainError('unreachable', 'nobody there'));

/** Lists and clock of a node, which change between two attempts. */
function routes() {
  const world = { areListsThere: true, now: START };
  const services = {
    verifyUrl: (id: string): string => `https://eu.example/v1/verify/${id}`,
    now: () => world.now,
    searches: {
      requireLists: () => undefined,
      ready: async () => {
        if (world.areListsThere) return usable;
        throw new ListsUnavailableError([{ listId: 'eu-consolidated', state: 'too-old' }]);
      },
    },
  };
  const chain = { account: nobody, firstTransaction: nobody };
  return { world, screening: screeningRoute(services), counterparty: counterpartyRoute({ ...services, chain }) };
}

/** The work of a route; `begun` is called when it begins. */
async function workOf(route: PaidRoute, begun: () => void): Promise<Work> {
  const work = await route.prepare(Object({ params: { address: ADDRESS } }), { name: NAME }, NO_ITEMS);
  return (recording) => {
    begun();
    return work({ payer: PAYER, account: 'x402', caller: null, recording, signal: new AbortController().signal });
  };
}

/** What an answer says beside the salt of its commitments and the record that was made of it. */
function found({ salt: _salt, queryHash: _hash, attestation: _attestation, ...members }: JsonObject): JsonObject {
  return members;
}

for (const [name, of, query] of [
  ['a screening', 'screening', NAME],
  ['a check of a counterparty', 'counterparty', ADDRESS],
] as const) {
  test(`${name} whose node died after the record is answered as it was found then, whatever changed`, async () => {
    await using fixture = await PaymentFixture.open();
    const { world, [of]: route } = routes();
    const plain = await fixture.answer(callOf({ nonce: 1 }), await workOf(route, () => {}));
    const work = await workOf(route, () => {
      if (world.areListsThere) fixture.fate = () => 'dies-after';
    });
    assert.type(await fixture.answer(callOf({ nonce: 2 }), work), 'string');
    fixture.fate = () => 'kept';
    await fixture.restart();
    Object.assign(world, { areListsThere: false, now: START + 86_400_000 });
    const again = bodyOf(await fixture.answer(callOf({ nonce: 2 }), work));
    assert.equal(found(again), found(bodyOf(plain)));
    assert.is(again.queryHash, commit(nativeSuite, 'meridian/input/1', decodeBase64url(String(again.salt)), query));
    assert.match(String(await fixture.answer(callOf({ nonce: 3 }), work)), /eu-consolidated \(too-old\)/);
  });
}

test.run();
