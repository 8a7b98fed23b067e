import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Holdings } from '../../../node/federation/holdings.ts';
import { PeerFaults } from '../../../node/log/peer-faults.ts';
import { FakeNetwork } from './fake-network.ts';
import { fastFederation, MemberFixture, silent, temporaryHome } from './member-fixture.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { until } from '../../fixtures/until.ts';

const [EU, US] = [nodeId('eu'), nodeId('us')];
/** More microtasks than the asking loop takes from its last answer to its end. */
const MAX_ITERATIONS = 24;

test('a member that is served pages just when the asking ends is asked again', async () => {
  await using home = await temporaryHome();
  const federation = await fastFederation(['eu', 'us']);
  await using eu = await MemberFixture.open(home.path, federation, 'eu');
  await eu.hold(await federation.sealBatch('eu', [{}]));
  for (let iterations = 0; iterations < MAX_ITERATIONS; iterations++) {
    const transport = new FakeNetwork().transport('eu', ['eu', 'us'], () => 'accept');
    let asked = 0;
    // It holds nothing yet: all that comes of an answer is that the loop goes on.
    async function* request(): AsyncGenerator<Uint8Array> {
      asked++;
      if (asked === 1) void afterIterations(iterations, () => holdings.noteServed(US, 1));
      yield Buffer.from(JSON.stringify({ batch: 0, envelope: null }));
    }
    const holdings = new Holdings({
      self: EU,
      store: eu.store,
      chains: eu.chains,
      transport: Object.assign(transport, { request }),
      isMember: () => true,
      faults: new PeerFaults(Date.now),
      onHeld: () => {},
      log: silent,
    });
    holdings.noteServed(US, 1);
    await until(`asked again, ${iterations} turns later`, () => asked === 2);
    await holdings[Symbol.asyncDispose]();
    assert.is(asked, 2);
  }
});

async function afterIterations(iterations: number, call: () => void): Promise<void> {
  for (let i = 0; i < iterations; i++) await undefined;
  call();
}

test.run();
