import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { writeLedgerMessage } from '../../../protocol/log/message.ts';
import { nameEnvelope } from '../../../protocol/log/naming.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { codes, WatchedWorld } from './watched-world.ts';

test('a monitor that is started anew reads on where it was, and tells again only what is new', async () => {
  await using world = await WatchedWorld.create();
  const stateFile = join(world.directory, 'state');
  const first = await world.seal('eu');
  const { envelope } = await world.seal('us');
  const named = { ...envelope, root: envelope.keyId };
  world.submit(writeLedgerMessage(nameEnvelope(nobleSuite, world.federation.chain.genesis, named, 'nobody shows it')));
  world.ahead = 61_000;
  {
    const { monitor } = await world.watch({ stateFile });
    await monitor.round();
    world.ahead += 61_000;
    await monitor.round();
    assert.equal(
      monitor.alerts.map(({ code, subject }) => `${code} ${subject}`),
      ['foreign-anchor us/1'],
    );
  }
  const before = world.asked.length;
  {
    const { monitor, events } = await world.watch({ stateFile });
    const since = monitor.alerts[0]?.since;
    await world.seal('eu');
    await monitor.round();
    assert.equal([codes(events), monitor.alerts[0]?.since, monitor.topicSequence], [[], since, 4]);
  }
  const asked = world.asked.slice(before).filter((path) => path.startsWith('mirror-') && path.includes('gt:'));
  assert.ok(asked.length > 0 && asked.every((path) => !path.endsWith('gt:0')), 'the topic is not read again');

  // What it read before its restart is what a later lie is held against.
  const rival = await signStatement(
    envelopeStatement,
    { ...first.envelope, root: first.envelope.keyId },
    world.federation.member('eu').key.signer,
  );
  world.changes.set('jp', (path, body) => {
    if (path === '/v1/federation') return body;
    return path.startsWith('/v1/chains/eu')
      ? { ...body, batches: [{ batch: 1, envelope: rival }] }
      : body;
  });
  {
    const { monitor, events } = await world.watch({ stateFile });
    for (let round = 0; round < 3 && monitor.proofs.length === 0; round++) await monitor.round();
    assert.equal(monitor.proofs, ['equivocation-eu-eu-1']);
    assert.ok(codes(events).includes('proof equivocation'));
  }
  {
    const { monitor, events } = await world.watch({ stateFile });
    await monitor.round();
    assert.equal(monitor.proofs, ['equivocation-eu-eu-1']);
    assert.not.ok(codes(events).includes('proof equivocation'), 'a proof is told once');
    assert.ok(monitor.alerts.some(({ code }) => code === 'chain-tainted'));
  }
});

test('a round that is called off tells nothing of those who could not answer any more', async () => {
  await using world = await WatchedWorld.create();
  const stateFile = join(world.directory, 'state');
  await world.seal('eu');
  const { monitor, events } = await world.watch({ stateFile });
  world.changes.set('us', () => {
    monitor[Symbol.dispose]();
    return null;
  });
  const { complete } = await monitor.round();
  assert.equal([complete, codes(events)], [false, []]);
  assert.match(await readFile(stateFile, 'utf8'), '"alerts":[]');
  assert.equal((await readdir(world.directory)).toSorted(), ['state']);
});

test.run();
