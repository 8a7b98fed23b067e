import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { generatePrivateKey } from 'viem/accounts';
import { addressOfKey } from '../../cluster/chain/chain-wallets.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import { encodeHeader, PAYMENT_REQUIRED_HEADER, PAYMENT_SIGNATURE_HEADER } from '../../protocol/payments/header.ts';
import { priceOf } from '../../protocol/payments/prices.ts';
import { paymentRequired, requirementsOf } from '../../protocol/payments/terms.ts';
import { payCommand } from '../../scripts/pay/command.ts';
import { TestChain } from '../fixtures/chain.ts';
import { ClusterHome } from '../fixtures/cluster-home.ts';
import { TestNetwork } from '../fixtures/test-network.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/pay.ts');
const SERVICE = 'wallet-record';
const PATH = '/v1/x402/wallet-record/0x2222222222222222222222222222222222222222';
const PRICE = priceOf(SERVICE);

const chain = await TestChain.start();
const network = await TestNetwork.start({
  ledger: 'local',
  config: { batchIntervalMs: 100, payments: chain.config() },
});
const node = network.node();
const keys = await mkdtemp(join(tmpdir(), 'meridian-pay-'));
const demo = generatePrivateKey();
await chain.mint(addressOfKey(demo), '10');
const home = await ClusterHome.of([node], {
  chain,
  wallet: { address: addressOfKey(demo), privateKey: demo },
});
test.after(async () => {
  home[Symbol.dispose]();
  await network[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
  await rm(keys, { recursive: true, force: true });
});

interface Run {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
  /** What the payee has more after it. */
  readonly gain: string;
  /** Payments that were sent. */
  readonly payments: readonly string[];
}

/** `meddle` stands between the command and the node. */
async function run(args: readonly string[], meddle: typeof fetch = fetch): Promise<Run> {
  const [out, err, payments]: [string[], string[], string[]] = [[], [], []];
  const balance = await chain.balanceOf(chain.payTo);
  const exit = await payCommand(
    args,
    { out: (printed) => void out.push(printed), err: (line) => void err.push(line) },
    {
      signal: new AbortController().signal,
      firstPauseMs: 1,
      fetch(input, init) {
        const payment = new Headers(init?.headers).get(PAYMENT_SIGNATURE_HEADER);
        if (payment !== null) payments.push(payment);
        return meddle(input, init);
      },
    },
  );
  const gain = String((await chain.balanceOf(chain.payTo)) - balance);
  return { exit, out: out.join('\n'), err: err.join('\n'), gain, payments };
}

async function keyFile(name: string, content: string): Promise<string> {
  const file = join(keys, name);
  await writeFile(file, content);
  return file;
}

test('it shows the price, pays it, and prints answer, receipt and verification', async () => {
  const { exit, out, err, gain } = await run(['GET', PATH]);
  assert.is(exit, 0, err);
  assert.is(gain, PRICE);
  const answer = JSON.parse(out);
  assert.is(answer.success, true);
  assert.match(err, 'price     $0.005 in USDC on eip155:8453');
  assert.match(err, `receipt   $0.005 by ${addressOfKey(demo).toLowerCase()}`);
  assert.match(err, `transaction ${answer.payment.transaction}`);
  assert.match(err, `verified  ✓ ${answer.attestation.attestationId} · confirmed`);
  assert.not.match(out + err, demo.slice(2));
});

test('an answer that is lost is asked for with the same payment, and charged once', async () => {
  let lost = 0;
  const { exit, out, err, gain, payments } = await run(['GET', PATH], async (input, init) => {
    const answer = await fetch(input, init);
    if (answer.status !== 200 || paymentOf(init) === null || lost++ > 0) return answer;
    await answer.text();
    throw new TypeError('the connection broke');
  });
  assert.is(exit, 0, err);
  assert.is(gain, PRICE);
  assert.equal([payments.length, new Set(payments).size], [2, 1]);
  assert.match(err, 'lost      the connection broke');
  assert.match(out, '"success": true');
});

function paymentOf(init: RequestInit | undefined): string | null {
  return new Headers(init?.headers).get(PAYMENT_SIGNATURE_HEADER);
}

test('where no answer comes at all it says that it does not know', async () => {
  const { exit, err, payments } = await run(['GET', PATH, '--no-wait'], async (input, init) => {
    if (paymentOf(init) !== null) throw new TypeError('nobody there');
    return fetch(input, init);
  });
  assert.is(exit, 1);
  assert.is(new Set(payments).size, 1);
  assert.match(err, 'not known whether $0.005');
});

test('above --max-usd nothing is signed', async () => {
  const { exit, out, err, gain, payments } = await run(['GET', PATH, '--max-usd', '0.004']);
  assert.equal([exit, out, gain, payments.length], [1, '', '0', 0]);
  assert.match(err, 'it costs $0.005');
});

test('a demand for anything but USDC on Base to the payee of the cluster is not met', async () => {
  const { payTo } = chain;
  const other = '0x3333333333333333333333333333333333333333';
  const demands: readonly JsonObject[] = [
    { network: 'eip155:84532' },
    { asset: other },
    { scheme: 'upto' },
    { payTo: other },
    { extra: { name: 'USD Coin', version: '3' } },
    { extra: { name: 'USD Coin', version: '2', assetTransferMethod: 'permit2' } },
    { amount: '-1' },
  ];
  for (const slip of demands) {
    const required = paymentRequired({ service: SERVICE, url: 'x', payTo, error: 'payment-required' });
    const accepts = [{ ...requirementsOf(SERVICE, { payTo }), ...slip }];
    const headers = { [PAYMENT_REQUIRED_HEADER]: encodeHeader({ ...required, accepts }) };
    const answer = new Response('{}', { status: 402, headers });
    const { exit, err, payments } = await run(['GET', PATH], async () => answer);
    assert.equal([exit, payments.length], [1, 0], JSON.stringify(slip));
    assert.match(err, 'not paid', JSON.stringify(slip));
  }
});

test('a 402 that cannot be read is not paid', async () => {
  for (const header of ['', 'e30=', '!']) {
    const answer = new Response('{}', { status: 402, headers: { [PAYMENT_REQUIRED_HEADER]: header } });
    const { exit, payments } = await run(['GET', PATH], async () => answer);
    assert.equal([exit, payments.length], [1, 0]);
  }
});

test('a wallet without money is refused by the node, and told why', async () => {
  const file = await keyFile('poor', `${generatePrivateKey()}\n`);
  const { exit, err, gain } = await run(['GET', PATH, '--key', file]);
  assert.equal([exit, gain], [1, '0']);
  assert.match(err, 'insufficient');
  assert.match(err, 'Nothing was charged');
});

test('a path that is free is answered without a payment; one that is not there is refused', async () => {
  const free = await run(['GET', '/v1/health']);
  assert.equal([free.exit, free.payments.length, JSON.parse(free.out).status], [0, 0, 'ok']);
  const none = await run(['GET', '/v1/x402/nothing']);
  assert.equal([none.exit, none.payments.length], [1, 0]);
});

test('a redirect of a GET is followed, and one of a POST is refused before anything is signed', async () => {
  const asked: string[] = [];
  const elsewhere = async (input: string | URL | Request, init?: RequestInit) => {
    const url = String(input);
    asked.push(url.slice(url.indexOf('/v1')));
    if (!url.includes('/v1/moved')) return fetch(input, init);
    return new Response(null, { status: 307, headers: { location: '/v1/health' } });
  };
  const followed = await run(['GET', '/v1/moved'], elsewhere);
  assert.equal([followed.exit, JSON.parse(followed.out).status], [0, 'ok']);
  assert.equal(asked.splice(0), ['/v1/moved', '/v1/health']);
  const refused = await run(['POST', '/v1/moved', '--data', '{}'], elsewhere);
  assert.equal([refused.exit, refused.gain, refused.payments.length], [1, '0', 0]);
  assert.match(refused.err, `${node.baseUrl} leads to another address`);
  assert.equal(asked, ['/v1/moved']);
});

test('a record that is on the ledger and does not hold is told by the exit code', async () => {
  const { exit, err } = await run(['GET', PATH], async (input, init) => {
    if (!String(input).includes('/v1/verify/')) return fetch(input, init);
    return Response.json({ status: 'confirmed', verified: false });
  });
  assert.is(exit, 1);
  assert.match(err, /verified {2}✗ att_eu_\w+ · confirmed/);
});

test('another command line is refused with exit 2, and says how it goes, without any key', async () => {
  const secret = generatePrivateKey();
  const bad = await keyFile('bad', `${secret}ff`);
  for (const args of [
    [],
    ['GET'],
    ['PUT', PATH],
    ['GET', 'v1'],
    ['GET', PATH, 'more'],
    ['GET', PATH, '--data', '{}'],
    ['POST', PATH, '--data', '{'],
    ['POST', PATH, '--data', '@/nowhere'],
    ['GET', PATH, '--node', 'xx'],
    ['GET', PATH, '--url', 'http://127.0.0.1:1'],
    ['GET', PATH, '--url', 'nowhere', '--key', bad],
    ['GET', PATH, '--max-usd', 'much'],
    ['GET', PATH, '--max-usd', '0'],
    ['GET', PATH, '--key', bad],
    ['GET', PATH, '--key', '/nowhere'],
    ['GET', PATH, '--wrong'],
  ]) {
    const { exit, out, err, payments } = await run(args);
    assert.equal([exit, out, payments.length], [2, '', 0], args.join(' '));
    assert.match(err, /^pay: [^\n]+; --help says more\n?$/, args.join(' '));
    assert.not.match(err, secret.slice(2));
  }
  assert.match((await run(['--help'])).out, 'Exit: 0');
});

test('as a process: the answer on stdout, the exit code; a node of another cluster by --url and --key', async () => {
  const file = await keyFile('rich', demo);
  const child = spawn(process.execPath, [SCRIPT, 'GET', PATH, '--url', node.baseUrl, '--key', file, '--no-wait'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, MERIDIAN_HOME: '/nowhere' },
  });
  const exited = once(child, 'exit');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  assert.is((await exited)[0], 0, err);
  assert.is(JSON.parse(out).success, true);
});

test('a node that does not answer is told', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  server.close();
  const file = await keyFile('any', generatePrivateKey());
  const { exit, err } = await run(['GET', PATH, '--url', `http://127.0.0.1:${port}`, '--key', file]);
  assert.is(exit, 1);
  assert.match(err, 'does not answer');
});

test.run();
