import { test } from 'uvu';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';

test('what the log decided is told where the store failed in between', async () => {
  await using network = await TestNetwork.start({ ledger: 'local' });
  const eu = network.node();
  const { currentRosters } = eu.context.keys;
  const follow = currentRosters.follow.bind(currentRosters);
  let failures = 0;
  currentRosters.follow = () => (failures++ === 0 ? Promise.reject(new Error('the disk refused')) : follow());
  const id = await eu.attest({ i: 1 });
  await eu.seal();
  await until('it is verified', async () => (await eu.get(`/v1/verify/${id}`)).body.verified === true);
});

test.run();
