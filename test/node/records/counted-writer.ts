import { CountedFixture } from './counted-fixture.ts';

/**
 * A process that is to be killed: records groups without end, writes the put off rows now and then, and prints after
 * each group how many records it has been told of. Numbers go on from the one given.
 */
const [directory = '', from = '0'] = process.argv.slice(2);
const started = performance.now();
// Now and then a second passes for the rows, as it does in a node that records for long.
const fixture = await CountedFixture.open(directory, { monotonic: () => (performance.now() - started) * 20 });
let told = Number(from);
for (let group = 1; ; group++) {
  const size = 1 + (group % 40);
  const sources = Array.from({ length: size }, (_, i) => `s${(group + i) % 5}`);
  if (!(await fixture.record(`acc_eu_${group % 3}`, sources))) throw new Error('the group was refused');
  told += size;
  // Also where nobody reads for a while.
  await new Promise((resolve) => process.stdout.write(`${told}\n`, resolve));
  if (group % 50 === 0) await fixture.counters.flush();
}
