import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { URI } from 'otpauth';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { NOTHING_SHOWN } from '../../node/accounts/second-factors/proof.ts';
import { keyCommand } from '../../scripts/key/command.ts';
import { ClusterHome } from '../fixtures/cluster-home.ts';
import { TestNetwork } from '../fixtures/test-network.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/key.ts');
const KEY_TEXT = /mk_[a-z]{2}_[A-Za-z0-9_-]{49}/;
const KEY_ID = /key_(?:eu|us)_[0-9A-Z]{26}/;
const STATUS = '/v1/status/att_eu_01M7Y82XBT6DYXP8Y3D6SYTJ5H';

const network = await TestNetwork.start({ nodes: ['eu', 'us'] });
const eu = network.node('eu');
const us = network.node('us');
const home = await ClusterHome.of([eu, us]);
test.after(async () => {
  home[Symbol.dispose]();
  await network[Symbol.asyncDispose]();
});

interface Run {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

async function key(line: string, stdin = ''): Promise<Run> {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = {
    out: (printed: string) => void out.push(printed),
    err: (printed: string) => void err.push(printed),
    read: async () => stdin,
  };
  const exit = await keyCommand(line.split(' ').filter(Boolean), terminal);
  return { exit, out: out.join('\n'), err: err.join('\n') };
}

/** The command, which must succeed; what it printed. */
async function done(line: string): Promise<string> {
  const { exit, out, err } = await key(line);
  assert.is(exit, 0, `${line}: ${out} ${err}`);
  return out;
}

async function made(line: string): Promise<{ readonly apiKey: string; readonly id: string }> {
  const out = await done(line);
  assert.is(out.match(new RegExp(KEY_TEXT, 'g'))?.length, 1, out);
  return { apiKey: KEY_TEXT.exec(out)?.[0] ?? '', id: KEY_ID.exec(out)?.[0] ?? '' };
}

async function statesOf(apiKey: string): Promise<unknown[]> {
  return Promise.all([eu, us].map(async (node) => (await node.get(STATUS, { key: apiKey })).body.code));
}

test('without --node an account and its key are known to every node of the cluster, as the same', async () => {
  const create = 'create-account --id acc_eu_acme --tier standard --name Acme --email ops@acme.example';
  assert.match(await done(create), /eu +acc_eu_acme/);
  const { apiKey, id } = await made('create --account acc_eu_acme --preset ingest --name loader');
  assert.equal(await statesOf(apiKey), ['attestation-not-found', 'attestation-not-found']);
  const list = await done('list --account acc_eu_acme');
  assert.match(list, new RegExp(`^${id} +loader +active +ingest +all +any +never .* eu us$`, 'm'));
  assert.not.match(list, KEY_TEXT);
  assert.match(await done('list'), /^acc_eu_acme +standard +Acme +ops@acme\.example +– +eu +eu us$/m);
});

test('--node picks one; the other does not know the key', async () => {
  const { apiKey } = await made(
    'create --account acc_eu_acme --preset auditor --node us --expires 30d --source a,b --source c',
  );
  assert.equal(await statesOf(apiKey), ['api-key-invalid', 'attestation-not-found']);
  assert.match(await done('list --account acc_eu_acme'), /auditor +a,b c +any +\d{4}-.* us$/m);
});

test('a key is rotated and revoked on every node', async () => {
  const old = await made('create --account acc_eu_acme --scopes attest:write,proof:read --addresses 127.0.0.0/8');
  const rotatedKey = await made(`rotate ${old.id} --account acc_eu_acme --overlap 0`);
  assert.equal(await statesOf(old.apiKey), ['api-key-revoked', 'api-key-revoked']);
  assert.equal(await statesOf(rotatedKey.apiKey), ['attestation-not-found', 'attestation-not-found']);
  await done(`revoke ${rotatedKey.id} --account acc_eu_acme`);
  assert.equal(await statesOf(rotatedKey.apiKey), ['api-key-revoked', 'api-key-revoked']);
});

test('a tier is set at once', async () => {
  const { apiKey } = await made('create --account acc_eu_acme --preset admin');
  await done('set-tier acc_eu_acme enterprise');
  for (const node of [eu, us]) {
    const found = await node.context.accounts.authenticate(apiKey);
    assert.is(typeof found === 'string' ? found : found.caller.account.tier, 'enterprise');
  }
});

test('compression of payloads is asked for with a new account, and set later', async () => {
  assert.match(
    await done('create-account --id acc_eu_small --tier standard --compress-payloads'),
    /payloads compressed/,
  );
  assert.match(await done('list'), /^acc_eu_small +standard +– +– +compressed +eu +eu us$/m);
  assert.not.match(await done('set-compression acc_eu_small off'), /compressed/);
  assert.match(await done('list'), /^acc_eu_small +standard +– +– +– +eu +eu us$/m);
  assert.match(await done('set-compression acc_eu_small on'), /payloads compressed/);
  assert.is((await key('set-compression acc_eu_small maybe')).exit, 2);
});

test('an account with --nodes is made at its home alone, and changed there without naming it', async () => {
  assert.match(await done('create-account --tier standard --nodes us,eu'), /^us +acc_us_\w+ +standard, at eu us$/m);
  const create = 'create-account --id acc_eu_ada --tier standard --nodes us,eu';
  assert.match(await done(create), /^eu +acc_eu_ada +standard, at eu us$/m);
  const { id, apiKey } = await made('create --account acc_eu_ada --preset ingest');
  assert.match(id, /^key_eu_/);
  assert.match(apiKey, /^mk_eu_/);
  assert.match(await done('list'), /^acc_eu_ada +standard +– +– +– +eu us +eu$/m);
  await done(`revoke ${id} --account acc_eu_ada`);
  assert.match(await done('set-nodes acc_eu_ada eu'), /^eu +acc_eu_ada +standard$/m);
  assert.match(await done('set-nodes acc_eu_ada eu,us'), /at eu us$/m);
  await done('restate acc_eu_ada');
  for (const [line, exit, reason] of [
    ['set-nodes acc_eu_ada eu,jp', 1, 'jp, which is no member'],
    ['set-nodes acc_eu_ada us', 1, 'lacks eu'],
    ['set-nodes acc_jp_ada jp', 2, 'jp, the home of the account, is none of the nodes'],
    ['set-nodes acc_eu_ada everywhere', 2, 'names of members'],
    ['set-nodes acc_eu_ada eu,us --node us', 1, 'another node'],
    ['restate acc_eu_nobody', 1, 'no account'],
  ] as const) {
    const told = await key(line);
    assert.is(told.exit, exit, `${line}: ${told.out}`);
    assert.match(told.err, reason, line);
  }
});

test('second factors that somebody lost are taken away at the home of the account', async () => {
  await done('create-account --id acc_eu_lost --tier standard --email lost@acme.example');
  const { secondFactors } = eu.context;
  const owner = { account: 'acc_eu_lost', holder: 'owner' } as const;
  const id = secondFactors.newId();
  const code = URI.parse((await secondFactors.setupOf(owner, id)).uri).generate();
  await secondFactors.addTotp(owner, { id, name: 'App', code }, NOTHING_SHOWN, 'operator');
  assert.is((await secondFactors.of(owner))?.factors.length, 1);
  await done('remove-second-factors acc_eu_lost owner');
  assert.is(await secondFactors.of(owner), undefined);
  for (const [line, exit, reason] of [
    ['remove-second-factors acc_eu_lost owner', 1, 'no such second factor'],
    ['remove-second-factors acc_eu_nobody owner', 1, 'no account'],
    ['remove-second-factors acc_eu_lost somebody', 2, 'neither owner nor the id of a person'],
  ] as const) {
    const told = await key(line);
    assert.is(told.exit, exit, `${line}: ${told.out}`);
    assert.match(told.err, reason, line);
  }
});

test('--home is one node outside any cluster, which makes its keys itself', async () => {
  await done(`create-account --id acc_eu_solo --tier developer --home ${eu.config.home}`);
  const { apiKey, id } = await made(`create --account acc_eu_solo --preset admin --home ${eu.config.home}`);
  assert.match(id, /^key_eu_/);
  assert.equal(await statesOf(apiKey), ['attestation-not-found', 'api-key-invalid']);
});

test('a node that missed a key is given it by stdin, and it is not printed again', async () => {
  const { apiKey, id } = await made('create --account acc_eu_acme --preset ingest --node eu --node us');
  const line = `create --account acc_eu_acme --preset ingest --node us --key-from-stdin --key-id ${id}`;
  const again = await key(line, `${apiKey}\n`);
  assert.is(again.exit, 0, again.err);
  assert.not.match(again.out, KEY_TEXT);
  const short = await key(line, 'short');
  assert.equal([short.exit, /at least 32/.test(short.err)], [1, true]);
});

test('what a node refuses is told, with exit 1', async () => {
  for (const [line, reason] of [
    ['create --account nobody --preset ingest', 'no account nobody'],
    ['create --account acc_eu_acme --preset auditor --expires 2020-01-01T00:00:00Z', 'has passed'],
    ['create --account acc_eu_acme --preset ingest --addresses localhost', 'CIDR'],
    ['create-account --id acc_eu_acme --tier developer', 'already'],
    ['create-account --tier developer --email nobody', 'mail address'],
    ['create-account --id A/B --tier developer', 'id'],
    ['set-tier a%2Fb developer', 'no account'],
    ['list --account nobody', 'no account nobody'],
    ['revoke key_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MB --account acc_eu_acme', 'no key'],
    ['rotate key_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MB --account acc_eu_acme --overlap 31d', 'overlapSeconds'],
  ] as const) {
    const { exit, err } = await key(line);
    assert.is(exit, 1, line);
    assert.match(err, reason, line);
    assert.match(err, 'key: us: ', line);
  }
});

test('another command line is refused with exit 2, and says how it goes', async () => {
  for (const line of [
    '',
    'grant',
    'create --preset ingest',
    'create --account acc_eu_acme',
    'create --account acc_eu_acme --preset owner',
    'create --account acc_eu_acme --scopes everything',
    'create --account acc_eu_acme --preset ingest --tier developer',
    'create --account acc_eu_acme --preset ingest --key-from-stdin',
    'rotate acc_eu_acme --account acc_eu_acme',
    'rotate',
    'set-tier acc_eu_acme gold',
    'list --node xx',
    'list --node eu --home /tmp',
    'list extra',
    'list --wrong',
  ]) {
    const { exit, out, err } = await key(line);
    assert.is(exit, 2, line);
    assert.is(out, '');
    assert.match(err, /^key: [^\n]+; --help says more\n?$/, line);
  }
  assert.match(await done('--help'), 'Exit: 0');
});

test('as a process: JSON on stdout, the exit code, and nothing is changed while a node does not run', async () => {
  const run = async (...args: string[]): Promise<Run> => {
    const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const exited = once(child, 'exit');
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const [exit] = await exited;
    return { exit: Number(exit), out, err };
  };
  const good = await run('create', '--account', 'acc_eu_acme', '--preset', 'ingest', '--json');
  assert.is(good.exit, 0, good.err);
  const told: unknown = JSON.parse(good.out);
  if (typeof told !== 'object' || told === null || !('apiKey' in told)) throw new Error(good.out);
  assert.equal(await statesOf(String(told.apiKey)), ['attestation-not-found', 'attestation-not-found']);
  await us.stop();
  const keys = (await eu.context.accounts.keys.list('acc_eu_acme')).length;
  const bad = await run('create', '--account', 'acc_eu_acme', '--preset', 'ingest');
  assert.equal([bad.exit, bad.out], [1, '']);
  assert.match(bad.err, 'us: the node does not run');
  assert.is((await eu.context.accounts.keys.list('acc_eu_acme')).length, keys);
  for (const node of [eu, us]) assert.not.match(node.log.join(''), KEY_TEXT);
});

test.run();
