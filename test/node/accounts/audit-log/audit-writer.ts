import { AuditFixture, use } from './audit-fixture.ts';

/**
 * A process that is to be killed: notes uses without end, records a change now and then, and prints the number of each
 * change once it is recorded. Numbers go on from the one given.
 */
const [directory = '', from = '0'] = process.argv.slice(2);
const fixture = await AuditFixture.open(directory);
for (let change = Number(from); ; change++) {
  for (let i = 0; i < 20; i++) fixture.auditLog.note('acme', use(`use ${change}.${i}`));
  await fixture.auditLog.record('acme', use(change, { action: 'key.created' }));
  // Told before the next one is begun, also where nobody reads for a while.
  await new Promise((resolve) => process.stdout.write(`${change}\n`, resolve));
}
