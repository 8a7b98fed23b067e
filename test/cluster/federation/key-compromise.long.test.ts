import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CHILD_ENVIRONMENT } from '../../fixtures/child-environment.ts';

const SCRIPT = join(import.meta.dirname, '../../../scripts/key-compromise.ts');

test('a stolen signing key is revoked: what was made before stands, what the thief made falls, nobody is refused', async () => {
  const child = spawn(process.execPath, [SCRIPT, 'revocation'], {
    env: CHILD_ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const said = await text(child.stdout);
  console.log(said);
  const [code]: unknown[] = await ended;
  assert.is(code, 0);
  assert.match(said, /refused 0/);
  assert.match(said, /all held/);
});

test.run();
