import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { appendFileSync, cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsckCommand } from '../../../node/fsck/command.ts';
import { KEY_FILE_PURPOSES, keyFilePath, type KeyFilePurpose, rewriteKeyAt } from '../../../node/keys/key-file.ts';
import { keyDirectory } from '../../../node/keys/node-keys.ts';
import { Passphrase } from '../../../node/keys/passphrase.ts';
import { Store } from '../../../node/store/store.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { scratchDirectory, writeHome } from './home.ts';

const SCRIPT = join(import.meta.dirname, '../../../scripts/fsck.ts');
const STORE_MODULE = join(import.meta.dirname, '../../../node/store/store.ts');

/** Quick to derive: the least that a key file may ask for. */
const LEAST_COST = 1 << 14;

const scratch = await scratchDirectory();
const home = join(scratch.path, 'eu');

test.before(() => writeHome(home, 2));
test.after(async () => {
  await scratch[Symbol.asyncDispose]();
});

class Screen {
  text = '';
  readonly isTTY: boolean;

  constructor(isTTY = false) {
    this.isTTY = isTTY;
  }

  write(more: string): void {
    this.text += more;
  }
}

async function run(...args: string[]): Promise<{ exit: number; out: string; err: string }> {
  const out = new Screen();
  const err = new Screen();
  const exit = await fsckCommand(args, out, err);
  return { exit, out: out.text, err: err.text };
}

function copyOf(name: string): string {
  const copy = join(scratch.path, name);
  cpSync(home, copy, { recursive: true });
  return copy;
}

/** Name, size and time of every file below a folder. */
function stateOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { size, mtimeMs } = statSync(join(directory, name));
      return `${name} ${size} ${mtimeMs}`;
    });
}

test('a whole store: counts, exit 0, nothing on stderr', async () => {
  const { exit, out, err } = await run(home);
  assert.is(exit, 0);
  assert.match(out, /^node eu, federation [0-9a-f]{8}\nrecords \d+, groups \d+, batches 4,/);
  assert.match(out, /\nwhole, in \d/);
  assert.is(err, '');
});

test('it is told as JSON, one object', async () => {
  const { exit, out } = await run(home, '--json');
  assert.is(exit, 0);
  const told: unknown = JSON.parse(out);
  assert.ok(typeof told === 'object' && told !== null && 'whole' in told && 'counts' in told);
  assert.is(told.whole, true);
});

test('it changes nothing in the home', async () => {
  const copy = copyOf('unchanged');
  const before = stateOf(copy);
  await run(copy);
  assert.equal(stateOf(copy), before);
});

test('progress goes to a terminal alone', async () => {
  const err = new Screen(true);
  assert.is(await fsckCommand([home], new Screen(), err), 0);
  assert.match(err.text, /\d+ records/);
});

test('a quiet check shows no progress', async () => {
  const err = new Screen(true);
  assert.is(await fsckCommand([home, '--quiet'], new Screen(), err), 0);
  assert.is(err.text, '');
});

test('with nothing to go on from it begins anew, and says so', async () => {
  const { exit, err } = await run(home, '--resume');
  assert.is(exit, 0);
  assert.is(err, 'fsck: begins anew: no check of it was interrupted\n');
});

test('problems are printed with table and key, exit 1', async () => {
  const copy = copyOf('problem');
  {
    await using store = await Store.open(join(copy, 'store'));
    await store.write([{ type: 'del', key: 'given-rosters/given' }]);
  }
  const { exit, out } = await run(copy);
  assert.is(exit, 1);
  assert.match(out, /^problem: given-rosters: the store has rows and no valid roster\n/m);
  assert.match(out, /\n\d+ problems, in/);
});

test('what was left behind by a killed check is tidied', async () => {
  const copy = copyOf('tidy');
  mkdirSync(join(copy, 'fsck-left', 'rows'), { recursive: true });
  await run(copy);
  assert.equal(readdirSync(copy).sort(), ['keys', 'store']);
});

test('a store that was cut in the middle of a write is whole, with a warning', async () => {
  const copy = copyOf('torn');
  const log = readdirSync(join(copy, 'store')).find((name) => name.endsWith('.log')) ?? '';
  // Of two bytes one is there: a longer one might not fit into what is left of its block of 32 KiB.
  appendFileSync(join(copy, 'store', log), Buffer.of(1, 2, 3, 4, 2, 0, 1, 9));
  const { exit, out } = await run(copy);
  assert.is(exit, 0, out);
  assert.match(out, /^warning: files .*torn-tail/);
});

test('without key files all but the payloads is checked', async () => {
  const copy = copyOf('keyless');
  rmSync(join(copy, 'keys'), { recursive: true });
  const { exit, out } = await run(copy);
  assert.is(exit, 0, out);
  assert.match(out, /node eu,/);
  assert.match(out, /not checked: payloads/);
  assert.match(out, /not checked: key files/);
});

test('the payload key of another node opens nothing', async () => {
  const copy = copyOf('other-key');
  cpSync(join(scratch.path, 'us', 'keys', 'payload.key'), join(copy, 'keys', 'payload.key'), { force: true });
  const { exit, out } = await run(copy);
  assert.is(exit, 1);
  assert.match(out, /problem: payload.*does not open/);
});

test('an identity that is no member is found', async () => {
  const other = copyOf('other-identity');
  const { exit, out } = await run(other);
  assert.is(exit, 0, out);
  const stranger = join(scratch.path, 'stranger');
  await writeHome(join(stranger, 'eu'), 2);
  cpSync(join(stranger, 'eu', 'keys', 'identity.key'), join(other, 'keys', 'identity.key'), { force: true });
  const found = await run(other);
  assert.is(found.exit, 1);
  assert.match(found.out, /identity.key: is not the identity key of any member/);
});

test('what cannot be checked is exit 2: no home, no store, bad arguments', async () => {
  assert.is((await run(join(scratch.path, 'nowhere'))).exit, 2);
  assert.is((await run(scratch.path)).exit, 2);
  assert.is((await run()).exit, 2);
  assert.is((await run(home, home)).exit, 2);
  assert.is((await run(home, '--repair')).exit, 2);
  for (const threads of ['-1', 'two', '', '1000']) assert.is((await run(home, `--threads=${threads}`)).exit, 2);
});

test('a passphrase that opens none of the key files is exit 2, one that opens some finds the others', async () => {
  const copy = copyOf('encrypted');
  const keys = keyDirectory(copy);
  const encrypt = (purpose: KeyFilePurpose, words: string) =>
    rewriteKeyAt(keyFilePath(keys, purpose), purpose, randomBytes(32), new Passphrase(utf8(words)), LEAST_COST);
  for (const purpose of KEY_FILE_PURPOSES) await encrypt(purpose, 'one passphrase of ours');
  const file = join(scratch.path, 'passphrase');
  const check = async (words: string) => {
    writeFileSync(file, words);
    return run(copy, '--json', '--passphrase-file', file);
  };
  const other = await check('another passphrase of ours');
  assert.equal([other.exit, other.out], [2, '']);
  assert.match(other.err, /^fsck: .*identity.key: it does not open under this passphrase\n$/);
  const marked = await check('\ufeffone passphrase of ours');
  assert.is(marked.exit, 2);
  assert.match(marked.err, 'under this passphrase, which begins with a byte order mark');
  await encrypt('peer', 'another passphrase of ours');
  const { exit, out } = await check('another passphrase of ours');
  assert.is(exit, 1);
  assert.match(out, '"key":"identity.key","detail"');
});

test('a store that another process has open is exit 2, and is left alone', async () => {
  const hold = `const { Store } = await import(process.argv[1]); await Store.open(process.argv[2]); console.log('open'); process.stdin.resume();`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', hold, STORE_MODULE, join(home, 'store')]);
  try {
    await once(holder.stdout, 'data');
    const { exit, err } = await run(home);
    assert.is(exit, 2);
    assert.match(err, /open in another process/);
  } finally {
    holder.kill();
    await once(holder, 'exit');
  }
  assert.is((await run(home)).exit, 0);
});

test('a stopped check is exit 2 and leaves nothing', async () => {
  const err = new Screen();
  assert.is(await fsckCommand([home], new Screen(), err, AbortSignal.abort()), 2);
  assert.match(err.text, /stopped before the end/);
  assert.equal(readdirSync(home).sort(), ['keys', 'store']);
});

test('the script exits as the command does', async () => {
  const child = spawn(process.execPath, [SCRIPT, home, '--json']);
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  assert.is(code, 0);
  assert.match(out, /"whole":true/);
  const refused = spawn(process.execPath, [SCRIPT], { stdio: 'ignore' });
  assert.equal(await once(refused, 'exit'), [2, null]);
});

test('a damaged key file is found', async () => {
  const copy = copyOf('key-file');
  const file = join(copy, 'keys', 'peer.key');
  appendFileSync(file, 'x');
  const { exit, out } = await run(copy);
  assert.is(exit, 1);
  assert.match(out, /problem: keys peer.key: /);
});

test.run();
