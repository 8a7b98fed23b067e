import { test } from 'uvu';
import { openChainClient } from '../../../../node/payments/facilitator/chain-client.ts';
import { firstBlockSince, firstBlockThat } from '../../../../node/payments/facilitator/evm-chain-reader.ts';
import { fc } from '../../../fixtures/properties.ts';

test('finds the first block of a time, whatever the times of blocks', async () => {
  const gaps = fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(gaps, fc.nat({ max: 1_100 }), async (seconds, permille) => {
      const times = seconds.map((_, i) => seconds.slice(0, i + 1).reduce((sum, gap) => sum + gap, 0));
      const head = times.length - 1;
      const sought = Math.floor((permille * (times[head] ?? 0)) / 1_000);
      const first = times.findIndex((time) => time >= sought);
      const block = { number: BigInt(head), hash: '0x', timestamp: times[head] ?? 0 } as const;
      const found = await firstBlockSince(clientOf(times), block, sought);
      return found === BigInt(first === -1 ? head : first);
    }),
  );
});

test('finds the first block that a condition holds for, in few questions', async () => {
  const heads = fc.bigInt({ min: 0n, max: 60_000_000n });
  await fc.assert(
    fc.asyncProperty(heads, heads, async (one, other) => {
      const [first, head] = one < other ? [one, other] : [other, one];
      let asked = 0;
      const found = await firstBlockThat(head, async (block) => ++asked > 0 && block >= first);
      return found === first && asked <= 26;
    }),
  );
});

/** A client of a chain whose blocks have these times. */
function clientOf(times: readonly number[]) {
  const client = openChainClient('http://127.0.0.1:2');
  const getBlock = ({ blockNumber }: { blockNumber: bigint }) =>
    Promise.resolve({ timestamp: BigInt(times[Number(blockNumber)] ?? 0) });
  return Object.assign(client, { getBlock });
}

test.run();
