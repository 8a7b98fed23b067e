import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';

const MAIN = join(import.meta.dirname, '../../node/main.ts');

test('a wrong setting ends the start with one line that names it', () => {
  const env = { ...CHILD_ENVIRONMENT, NODE_ID: 'eu', NODE_HOME: '/nowhere', BEHIND_PROXY: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN], { env, encoding: 'utf8' });
  assert.is(status, 1);
  assert.is(stdout, '');
  assert.match(stderr, /^BEHIND_PROXY is not read any more: .*TRUSTED_PROXIES.*\n$/);
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
