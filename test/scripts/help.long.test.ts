import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import manifest from '../../package.json' with { type: 'json' };
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Of `npm run`: tools of others, and the tests themselves. */
const OTHERS = new Set(['test', 'test:long', 'generators', 'lint', 'format', 'types', 'node']);
const SCRIPT = /\bnode (?:--\S+ )*((?:scripts|cluster|test)\/[\w/-]+\.ts)$/;

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function run(script: string, argument: string): Promise<Ended> {
  const env = { ...CHILD_ENVIRONMENT, MERIDIAN_HOME: '/nowhere' };
  return new Promise((resolve) => {
    execFile(process.execPath, [join(ROOT, script), argument], { env, cwd: ROOT }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
}

const scripts = new Set<string>();
for (const [name, command] of Object.entries(manifest.scripts)) {
  if (OTHERS.has(name)) continue;
  const [, script] = SCRIPT.exec(command) ?? [];
  if (script === undefined) throw new Error(`${name} starts no script: ${command}`);
  scripts.add(script);
}

test('every command says with --help what it takes, and a flag that it does not know is one line and exit 2', async () => {
  assert.ok(scripts.size > 15);
  for (const script of scripts) {
    const help = await run(script, '--help');
    assert.equal([help.code, help.err], [0, ''], script);
    assert.match(help.out, /npm (?:run|start)/, script);
    const wrong = await run(script, '--no-such-flag');
    assert.equal([wrong.code, wrong.out], [2, ''], script);
    assert.match(wrong.err, /^[^\n]+\n$/, script);
  }
});

test('a word where none is taken is refused, and nothing is begun', async () => {
  for (const script of ['cluster/main.ts', 'node/main.ts', 'scripts/bench/main.ts', 'test/soak/main.ts']) {
    const { code, out, err } = await run(script, 'stray');
    assert.equal([code, out], [2, ''], script);
    assert.match(err, /^(?:meridian: )?Unexpected argument 'stray'[^\n]*; --help says more\n$/, script);
  }
});

test.run();
