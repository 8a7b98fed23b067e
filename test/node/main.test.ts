import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { entityId } from '../../protocol/ids.ts';
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';
import { genesisRoster, makePlace, writeRoster } from '../fixtures/test-roster.ts';

const MAIN = join(import.meta.dirname, '../../node/main.ts');

test('a wrong setting ends the start with one line that names it', () => {
  const env = { ...CHILD_ENVIRONMENT, NODE_ID: 'eu', NODE_HOME: '/nowhere', BEHIND_PROXY: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN], { env, encoding: 'utf8' });
  assert.is(status, 1);
  assert.is(stdout, '');
  assert.match(stderr, /^BEHIND_PROXY is not read any more: .*TRUSTED_PROXIES.*\n$/);
});

test('settings that do not go with the roster or the key files end the start with one line, too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'meridian-main-'));
  try {
    const topic = { network: 'test', topicId: entityId('0.0.1') };
    const place = await makePlace(folder, 'eu', entityId('0.0.1001'));
    const ROSTER = await writeRoster(folder, await genesisRoster([place], 0, topic));
    const env = {
      ...CHILD_ENVIRONMENT,
      NODE_ID: 'eu',
      NODE_HOME: place.home,
      ROSTER,
      LEDGER_OPERATOR_ID: '0.0.1001',
      LEDGER_OPERATOR_KEY: '11'.repeat(32),
    };
    const notJson = join(folder, 'not-json');
    await writeFile(notJson, '[{');
    const wrong: readonly (readonly [Record<string, string>, RegExp])[] = [
      [{ LEDGER_OPERATOR_ID: '0.0.9' }, /^LEDGER_OPERATOR_ID 0\.0\.9 is no account of eu: .*\n$/],
      [{ LEDGER_OPERATOR_KEY: 'foo' }, /^LEDGER_OPERATOR_KEY: a ledger key is .*\n$/],
      [{ LEDGER_SUBMIT_KEY: 'foo' }, /^LEDGER_SUBMIT_KEY: a ledger key is .*\n$/],
      [{}, /^the ledger test needs LEDGER_NODES and LEDGER_MIRRORS\n$/],
      [{ NODE_ID: 'us' }, /^.*us.*\n$/],
      [{ NODE_HOME: folder }, /^.*identity\.key does not exist\n$/],
      [{ ROSTER: join(folder, 'none') }, /^the roster file .*none cannot be read: ENOENT\n$/],
      [{ ROSTER: notJson }, /^the roster file is not JSON: .*\n$/],
      [{ NODE_KEY_PASSPHRASE_FILE: join(folder, 'none') }, /^the passphrase file .* cannot be read: ENOENT\n$/],
    ];
    for (const [settings, expected] of wrong) {
      const { status, stderr } = spawnSync(process.execPath, [MAIN], {
        env: { ...env, ...settings },
        encoding: 'utf8',
      });
      assert.is(status, 1, stderr);
      assert.match(stderr, expected);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a flag that it does not know starts nothing, and is said in one line; the help has the one that it knows', () => {
  const env = { ...CHILD_ENVIRONMENT, NODE_ID: 'eu', NODE_HOME: '/nowhere' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, '--reread'], { env, encoding: 'utf8' });
  assert.is(status, 2);
  assert.is(stdout, '');
  const help = spawnSync(process.execPath, [MAIN, '--help'], { env, encoding: 'utf8' });
  assert.equal([help.status, help.stdout, help.stderr], [0, 'usage: npm run node [-- --reread-ledger]\n', '']);
  assert.match(stderr, /^Unknown option '--reread'; --help says more\n$/);
});

test.run();
