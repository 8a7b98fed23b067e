import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TestNetwork } from '../fixtures/test-network.ts';
import { until } from '../fixtures/until.ts';
import { accessibilityFaults } from './axe.ts';
import { launchChromium, watch } from './chromium.ts';

const WALLET = '0x1111111111111111111111111111111111111111';
const HOSTILE = '<svg onload=alert(1)>\u202e"\'&';
const WIDE = { width: 1280, height: 720 };
const NARROW = { width: 320, height: 640 };

const browser = await launchChromium('the pages were not opened in a real one');
if (browser !== null) {
  const network = await TestNetwork.start({ nodes: ['eu', 'us', 'sg'], ledger: 'local' });
  const node = network.node('eu');
  test.after(async () => {
    await browser.close();
    await network[Symbol.asyncDispose]();
  });
  await node.post('/v1/agents/register', {
    agentId: HOSTILE,
    displayName: HOSTILE,
    jurisdiction: 'EU',
    permittedUses: ['u'],
  });
  const confirmed = await node.attest({ text: HOSTILE });
  await node.seal();
  await until('the record is confirmed', async () => {
    return (await node.get(`/v1/status/${confirmed}`)).body.status === 'confirmed';
  });
  const waiting = await node.attest({ text: 'waits' });
  const { fingerprint } = (await node.get('/v1/federation')).body;
  const PATHS = [
    '/',
    '/check',
    '/sign-up',
    '/lost-key',
    '/console/sign-in',
    '/log',
    '/docs',
    '/problems/api-key-missing',
    `/v/${confirmed}`,
    `/v/${waiting}`,
    '/v/att_eu_01J0000000000000000000000A',
    `/agents/${encodeURIComponent(HOSTILE)}`,
    `/w/${WALLET}`,
  ];

  /** Until the browser has checked a record itself, where the page shows one. */
  const load = async (page: Page, path: string) => {
    await page.goto(node.baseUrl + path);
    if ((await page.locator('#own-check').count()) > 0) await page.waitForSelector('#own-check .checks');
  };

  const opened = async (path: string, options: Parameters<typeof browser.newContext>[0] = {}) => {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const seen = await watch(page);
    if (options.javaScriptEnabled === false) await page.goto(node.baseUrl + path);
    else await load(page, path);
    return { page, seen, [Symbol.asyncDispose]: () => context.close() };
  };

  test('no page breaks its policy, asks another origin, or has an accessibility fault; each fits a narrow screen and prints', async () => {
    await using open = await opened('/');
    const { page, seen } = open;
    for (const path of PATHS) {
      await page.setViewportSize(WIDE);
      await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
      await load(page, path);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        assert.equal(await accessibilityFaults(page), [], `${path}, ${colorScheme}`);
      }
      assert.is(await page.locator('h1').count(), 1, path);
      await page.setViewportSize(NARROW);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= NARROW.width, `${path}: ${width}`);
      await page.emulateMedia({ media: 'print' });
      assert.not.ok(await page.locator('nav').isVisible(), path);
    }
    assert.equal(seen.faults.filter(isOfMissing).length, 1, 'of the record that is not there');
    assert.equal(
      seen.faults.filter((fault) => !isOfMissing(fault)),
      [],
    );
    assert.equal(
      seen.requests.filter((url) => !url.startsWith(node.baseUrl) && !url.startsWith('data:')),
      [],
    );
  });

  test('every page is whole without scripts', async () => {
    await using open = await opened('/', { javaScriptEnabled: false });
    const { page, seen } = open;
    for (const path of PATHS) {
      await page.goto(node.baseUrl + path);
      assert.ok((await page.locator('main').innerText()).length > 80, path);
    }
    assert.equal(
      seen.faults.filter((fault) => !isOfMissing(fault)),
      [],
    );
  });

  test('the keyboard reaches the content, the links and the fields, and what has the focus is seen', async () => {
    await using open = await opened('/');
    const { page } = open;
    await page.keyboard.press('Tab');
    assert.is(await page.evaluate(() => document.activeElement?.textContent), 'Skip to the content');
    await page.keyboard.press('Enter');
    assert.is(await page.evaluate(() => document.activeElement?.id), 'main');
    for (let i = 0; i < 10; i++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(() => document.activeElement?.id === 'id')) break;
    }
    assert.is(await page.evaluate(() => document.activeElement?.id), 'id');
    await page.keyboard.type(confirmed);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/v/${confirmed}`);
  });

  test('the browser checks the record itself, and says proven under a pin that its visitor typed alone', async () => {
    await using open = await opened(`/v/${confirmed}#pin=${String(fingerprint)}`);
    const { page, seen } = open;
    const status = page.locator('#own-check .state');
    await page.waitForFunction(() => document.querySelector('#own-check .checks') !== null);
    assert.match(
      await status.innerText(),
      /^◐ Consistent.*checked in this browser, just now, with the federation that this/,
    );
    assert.match(await page.locator('#own-check').innerText(), /Signatures checked by (?:WebCrypto|noble)/);
    await page.fill('#pin', String(fingerprint));
    await page.click('text=Check under this pin');
    await page.waitForFunction(() => document.querySelector('#own-check .proven') !== null);
    assert.match(
      await status.innerText(),
      /^✔ Proven: checked in this browser, just now, under the fingerprint that you gave/,
    );
    await page.fill('#pin', `sha256:${'0'.repeat(64)}`);
    await page.click('text=Check under this pin');
    await page.waitForFunction(() => document.querySelector('#own-check .does-not-hold') !== null);
    assert.match(await status.innerText(), /^✕ Does not hold/);
    assert.equal(seen.faults, []);
  });

  test('a record that waits for the ledger is told so by the browser', async () => {
    await using open = await opened(`/v/${waiting}`);
    await open.page.waitForFunction(() => document.querySelector('#own-check .checks') !== null);
    assert.match(await open.page.locator('#own-check .state').innerText(), /^… Signed, and not on the ledger yet/);
  });

  test('a node that answers with the proof of another record is found out', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.route(`**/v1/proofs/${waiting}`, async (route) => {
      await route.fulfill({ response: await route.fetch({ url: `${node.baseUrl}/v1/proofs/${confirmed}` }) });
    });
    await page.goto(`${node.baseUrl}/v/${waiting}`);
    await page.waitForFunction(() => document.querySelector('#own-check .checks') !== null);
    assert.match(await page.locator('#own-check .state').innerText(), /^✕ Does not hold: .*another record/);
    await context.close();
  });

  test('a link to a record shows its content to whoever has it, and its secret is in no request but one', async () => {
    const { url } = (await node.post(`/v1/bundles/${confirmed}/share`, { disclosure: true })).body;
    const { pathname, hash } = new URL(String(url));
    await using open = await opened(pathname + hash);
    const { page, seen } = open;
    await page.click('text=The content, as it was recorded');
    const content = await page.locator('#own-check pre').first().innerText();
    assert.ok(content.includes('<svg onload=alert(1)>'), content);
    assert.ok(content.includes('\\u{202e}'), 'what turns text around is shown');
    const secret = hash.replace('#share=', '');
    assert.equal(
      seen.requests.filter((asked) => new URL(asked).pathname.includes(secret)).map((asked) => new URL(asked).pathname),
      [`/v1/shared/${secret}`],
    );
    assert.equal(seen.faults, []);
  });

  test('the search of the reference hides what does not fit', async () => {
    await using open = await opened('/docs');
    const { page } = open;
    await page.fill('#search', 'certificate nothing-like-it');
    assert.is(await page.locator('.operation:visible').count(), 0);
    await page.fill('#search', '/v1/verify/');
    assert.ok((await page.locator('.operation:visible').count()) >= 1);
  });
}

/** What a browser's console says of a page that is not there. */
function isOfMissing(fault: string): boolean {
  return fault.includes('404');
}

test.run();
