import { test } from 'uvu';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';

test('what the log decided is told where the store failed in between', async () => {
  await using network = await TestNetwork.start({ ledger: 'local' });
  const eu = network.node();
  const { book } = eu.context.keys;
  const follow = book.follow.bind(book);
  let failures = 0;
  book.follow = () => (failures++ === 0 ? Promise.reject(new Error('the disk refused')) : follow());
  const id = await eu.attest({ i: 1 });
  await eu.seal();
  await until('it is verified', async () => (await eu.get(`/v1/verify/${id}`)).body.verified === true);
});

test.run();
