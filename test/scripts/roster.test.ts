import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rosterCommand } from '../../scripts/roster/command.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { RosterChain } from '../../protocol/keys/roster-chain.ts';
import { parseRosterFile } from '../../protocol/keys/roster-file.ts';
import { readFingerprintWords } from '../../protocol/verdict/fingerprint-words.ts';

const NODES = ['us', 'eu', 'ca'];
const ACCOUNTS = [...NODES, 'za'];
/** Of a federation of one. */
const TERMS = ['--name', 'one', '--quorum', '0'];
const directory = await mkdtemp(join(tmpdir(), 'roster-'));
test.after(() => rm(directory, { recursive: true, force: true }));

function at(name: string): string {
  return join(directory, name);
}

async function run(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const lines: string[] = [];
  const code = await rosterCommand(args, { out: (line) => lines.push(line), err: (line) => lines.push(line) });
  return { code, text: lines.join('\n') };
}

async function exitOf(...args: readonly string[]): Promise<number> {
  return (await run(...args)).code;
}

function member(id: string, port = 4201): Promise<{ readonly code: number; readonly text: string }> {
  const flags = ['--home', at(id), '--node', id, '--region', 'Test', '--base-url', `https://${id}.example`];
  const account = `0.0.${ACCOUNTS.indexOf(id) + 1001}`;
  const peer = `/dns4/${id}.example/tcp/${port}`;
  return run('member', ...flags, '--account', account, '--peer', peer, '--out', at(`${id}.json`));
}

async function chainOf(name: string): Promise<RosterChain> {
  return RosterChain.open(nativeSuite, parseRosterFile(await readFile(at(name), 'utf8')));
}

test('a federation is founded by files alone: every member signs in its own home', async () => {
  for (const id of NODES) assert.is((await member(id)).code, 0);
  const terms = ['--name', 'test', '--quorum', '2', '--network', 'testnet', '--topic', '0.0.7'];
  const files = NODES.map((id) => at(`${id}.json`));
  const founded = await run('init', ...files, ...terms, '--reach', '86400', '--out', at('genesis.json'));
  assert.is(founded.code, 0);
  assert.match(founded.text, /^what a federation of 3 stands.*\n *quorum.*\n +1( +[10]){3}\n +\* 2( +[01]){3}$/);
  assert.is(await exitOf('sign', at('genesis.json'), '--home', at('us')), 1, 'two are missing');
  assert.is(await exitOf('publish', at('genesis.json'), '--out', at('roster.json')), 1);
  assert.is(await exitOf('sign', at('genesis.json'), '--home', at('eu')), 1);
  assert.is(await exitOf('sign', at('genesis.json'), '--home', at('ca')), 0);
  const published = await run('publish', at('genesis.json'), '--out', at('roster.json'));
  assert.is(published.code, 0);
  const chain = await chainOf('roster.json');
  assert.equal(chain.nodes, NODES);
  assert.equal(
    chain.current.members.map(({ accounts }) => accounts),
    [['0.0.1001'], ['0.0.1002'], ['0.0.1003']],
  );
  assert.is(chain.current.revocationReach, 86_400);
  const { text } = await run('show', at('roster.json'));
  assert.match(text, 'founded by us eu ca');
  for (const told of [published.text, text]) {
    assert.match(told, `fingerprint ${chain.genesis}`);
    assert.is(readFingerprintWords(nativeSuite, /^in words +(.*)$/m.exec(told)?.[1] ?? ''), chain.genesis);
  }
});

test('signatures of a genesis roster that are gathered in files of their own are joined', async () => {
  const terms = ['--name', 'apart', '--quorum', '2', '--network', 'testnet', '--topic', '0.0.8'];
  await run('init', ...NODES.map((id) => at(`${id}.json`)), ...terms, '--out', at('apart.json'));
  for (const id of NODES) await run('sign', at('apart.json'), '--home', at(id), '--out', at(`apart.${id}.json`));
  const files = NODES.map((id) => at(`apart.${id}.json`));
  assert.is(await exitOf('publish', at('apart.json'), '--out', at('apart-roster.json')), 1, 'nobody signed that one');
  assert.is(await exitOf('publish', ...files, '--out', at('apart-roster.json')), 0);
});

test('making a member again changes no key', async () => {
  const before = await readFile(at('us.json'), 'utf8');
  await member('us');
  assert.is(await readFile(at('us.json'), 'utf8'), before);
});

test('a next roster is a file that no home signs: a running node names it', async () => {
  await member('za');
  assert.is(
    await exitOf('propose', '--add', at('za.json'), '--roster', at('roster.json'), '--out', at('next.json')),
    0,
  );
  const source = ['--roster', at('roster.json')];
  const signed = await run('sign', at('next.json'), '--home', at('us'));
  assert.equal([signed.code, /only a genesis roster is signed in a file/.test(signed.text)], [2, true]);
  const named = await run('name', at('next.json'), '--home', at('us'));
  assert.equal([named.code, named.text], [1, 'roster: the node does not run']);
  assert.match((await run('show', at('next.json'), ...source)).text, 'change: +za');
  assert.match((await run('show', at('next.json'))).text, 'change: name the rosters before it');
});

test('who joins is given the rosters and the next one in a file', async () => {
  assert.is(await exitOf('publish', at('next.json'), '--roster', at('roster.json'), '--out', at('roster-2.json')), 0);
  assert.equal((await chainOf('roster-2.json')).nodes, [...NODES, 'za']);
  assert.is(await exitOf('publish', at('next.json'), '--roster', at('roster-2.json'), '--out', at('again.json')), 1);
  const [genesis, next, ...others]: readonly unknown[] = JSON.parse(await readFile(at('roster-2.json'), 'utf8'));
  assert.equal(Object.keys(Object(genesis)), ['statement', 'signatures']);
  assert.equal([typeof next, others], ['string', []]);
});

test('a member moves to another account, and to none of another member', async () => {
  const source = ['--roster', at('roster.json')];
  const moved: object = JSON.parse(await readFile(at('us.json'), 'utf8'));
  const propose = async (accounts: readonly string[]) => {
    await writeFile(at('moved.json'), JSON.stringify({ ...moved, accounts }));
    return run('propose', '--move', at('moved.json'), '--reach', '60', ...source, '--out', at('moving.json'));
  };
  assert.is((await propose(['0.0.1001', '0.0.2001'])).code, 0);
  const { text } = await run('show', at('moving.json'), ...source);
  assert.match(text, 'change: ~us reach 86400→60 s');
  assert.match(text, '0.0.1001 0.0.2001');
  assert.match((await propose(['0.0.1001', '0.0.1002'])).text, /names one account twice/);
});

test('a signature that does not hold is named, and is not published', async () => {
  const proposal: { signatures: { node: string; signature: string }[] } = JSON.parse(
    await readFile(at('genesis.json'), 'utf8'),
  );
  const [first, second, ...others] = proposal.signatures;
  const swapped = { ...second, signature: first?.signature };
  await writeFile(at('forged.json'), JSON.stringify({ ...proposal, signatures: [first, swapped, ...others] }));
  for (const command of [['show'], ['publish', '--out', at('forged-roster.json')]]) {
    const [name = '', ...flags] = command;
    const { code: exit, text: said } = await run(name, at('forged.json'), ...flags);
    assert.is(exit, 1);
    assert.match(said, `the roster signature of ${second?.node} does not hold`);
  }
});

test('what cannot be a roster is not drafted', async () => {
  const source = ['--roster', at('roster.json')];
  const refusals: readonly [args: string[], why: RegExp][] = [
    [['propose', '--remove', 'zz', ...source], /zz is no member/],
    [['propose', '--add', at('us.json'), ...source], /names one node twice/],
    [['propose', '--quorum', '3', ...source], /fits besides the origin/],
    [['propose', '--quorum', 'many', ...source], /--quorum is the number of members/],
    [['propose', '--add', at('nowhere.json'), ...source], /ENOENT/],
    [['propose', '--add', at('roster.json'), ...source], /is not a member/],
    [['propose', '--roster', at('us.json')], /is not a signed genesis roster/],
    [['propose', '--json', ...source], /propose takes no --json/],
    [['propose', '--reach', 'far', ...source], /--reach is a number/],
    [['propose', '--quorum', '0', ...source], /at least one/],
    [['member', '--home', at('x'), '--node', 'us', '--region', 'T', '--base-url', 'https://x'], /--account is missing/],
    [['sign', at('genesis.json')], /--home is missing/],
    [['publish', '--out', at('x.json')], /name a proposal/],
    [['publish', at('genesis.json')], /--out is missing/],
    [['init', at('us.json'), ...TERMS, '--network', 'x/y', '--topic', '0.0.7'], /a name of a network has no \//],
    [['init', at('us.json'), ...TERMS, '--network', 'x', '--topic', 'foo'], /not a ledger entity id: "foo"/],
    [['abolish'], /there is no command abolish/],
    [[], /which command/],
  ];
  for (const [args, why] of refusals) {
    const { code: exit, text } = await run(...args);
    assert.is(exit, 2, args.join(' '));
    assert.match(text, why);
  }
});

test('a member that could not be in a roster is refused at once, and leaves no keys', async () => {
  const good = {
    home: at('fresh'),
    node: 'us',
    region: 'Test',
    'base-url': 'https://x',
    peer: '/dns4/x/tcp/1',
    account: '0.0.1',
  };
  const tell = (change: Partial<typeof good>) =>
    run('member', ...Object.entries({ ...good, ...change }).flatMap(([flag, value]) => [`--${flag}`, value]));
  const refusals: readonly [change: Partial<typeof good>, why: RegExp][] = [
    [{ 'base-url': 'us.example' }, /is no https address/],
    [{ 'base-url': 'ftp://us.example' }, /is no https address/],
    [{ 'base-url': 'https://us.example/' }, /is no https address/],
    [{ account: 'x' }, /not a ledger entity id: "x"/],
    [{ node: 'XX9' }, /not a node id: "XX9"/],
    [{ home: at('us.json') }, /us\.json: ENOTDIR/],
  ];
  for (const [change, why] of refusals) {
    const { code, text } = await tell(change);
    assert.equal([code, text.split('\n').length], [2, 1], text);
    assert.match(text, why);
  }
  assert.not.ok(existsSync(at('fresh')));
  const { code, text } = await tell({ peer: 'bar' });
  assert.is(code, 2);
  assert.match(text, /^roster: member us: .*multiaddr/);
});

test('a file that cannot be written, and a home without a key, are not told as a node that does not run', async () => {
  const genesis = ['init', at('us.json'), ...TERMS, '--network', 'testnet', '--topic', '0.0.7'];
  const commands = [genesis, ['show', at('roster.json')], ['sign', at('genesis.json'), '--home', at('us')]];
  const outputs: readonly [out: string, why: RegExp][] = [
    [at('nowhere/x.json'), /^roster: \S+nowhere\/x\.json: ENOENT/m],
    [directory, /: EISDIR/],
  ];
  for (const command of commands) {
    for (const [out, why] of outputs) {
      const { code, text } = await run(...command, '--out', out);
      assert.is(code, 2, text);
      assert.match(text, why);
    }
  }
  assert.not.ok(existsSync(`${directory}.new`));
  const { code, text } = await run('sign', at('genesis.json'), '--home', at('nobody'));
  assert.is(code, 2);
  assert.match(text, /nobody\/keys\/identity\.key does not exist/);
});

test('nobody answers for a node that does not run', async () => {
  for (const home of [at('us'), at('us.json')]) {
    const { code: exit, text } = await run('show', '--home', home);
    assert.equal([exit, text], [1, 'roster: the node does not run']);
  }
});

test('a node of another release that is asked for decisions is told of in one line', async () => {
  const server = createServer((_, response) => response.writeHead(404).end('{"detail":"no such route"}'));
  server.listen(at('us/operator.sock'));
  await once(server, 'listening');
  const { code: exit, text } = await run('show', '--home', at('us'), '--decisions');
  server.close();
  await once(server, 'close');
  assert.equal([exit, text], [1, 'roster: the node is of another version']);
});

test.run();
