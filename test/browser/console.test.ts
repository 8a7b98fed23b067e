import type { BrowserContextOptions } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FORMS } from '../../node/http/console/forms.ts';
import { SCREENS } from '../../node/http/console/screens.ts';
import { API_KEYS } from '../fixtures/test-node.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { until } from '../fixtures/until.ts';
import { accessibilityFaults } from './axe.ts';
import { launchChromium } from './chromium.ts';
import { ConsoleBrowser, idIn } from './console-browser.ts';

const HOSTILE = '<svg onload=alert(1)>\u202e"\'&';
const NARROW = { width: 320, height: 640 };
const KEY = API_KEYS.unmetered;

const browser = await launchChromium('the console was not opened in a real one');
if (browser !== null) {
  const network = await TestNetwork.start({ ledger: 'local', config: { batchIntervalMs: 200 } });
  const node = network.node();
  test.after(async () => {
    await browser.close();
    await network[Symbol.asyncDispose]();
  });

  const signIn = (options: BrowserContextOptions = {}, key: string = KEY) =>
    ConsoleBrowser.byKey(browser, node.baseUrl, key, options);

  const decision = await node.attest({ text: HOSTILE }, { sourceId: HOSTILE });
  const hook = await node.post('/v1/webhooks', { url: 'http://127.0.0.1:9/', events: ['key.expiring'] });
  const webhook = String(hook.body.webhookId);
  let incident = '';
  let assessments: readonly string[] = [];

  test('a person registers a system, reviews a decision, reports an incident and goes on with it', async () => {
    await using open = await signIn();
    const { page, seen } = open;
    await open.done('system', { systemRef: HOSTILE, role: 'provider', intendedPurpose: HOSTILE, owner: HOSTILE });
    await page.goto(`${node.baseUrl}/console/records/${decision}`);
    await page.getByRole('link', { name: 'Record a review of it' }).click();
    assert.is(await page.getByLabel('Original attestation id (required)').inputValue(), decision);
    await open.fillIn({ reviewerId: 'staff-1', reviewOutcome: 'confirmed', overrideReason: HOSTILE });
    await page.getByRole('button', { name: 'Record it' }).click();
    assert.match(await page.locator('main').innerText(), /● Done\./);
    const reported = await open.done('incident', {
      sourceId: HOSTILE,
      severity: 'serious',
      description: HOSTILE,
      incidentPeriodStart: '2026-01-01T00:00:00Z',
      awarenessAt: '2026-01-01T00:00:00Z',
      criteria: 'death\nfundamental-rights',
    });
    incident = idIn(reported, 'inc');
    await page.goto(`${node.baseUrl}/console/incidents/${incident}`);
    assert.match(await page.locator('main').innerText(), /missed/);
    await page.getByRole('link', { name: 'Record a corrective action' }).click();
    await open.fillIn({ nonconformityDescription: HOSTILE, status: 'planned' });
    await page.getByRole('button', { name: 'Record it' }).click();
    assert.match(await page.locator('main').innerText(), /● Done\./);
    const first = await open.done('risk-assessment', {
      sourceId: HOSTILE,
      risksIdentified: 'one',
      residualRisk: 'high',
    });
    const again = await open.done('risk-assessment', {
      sourceId: HOSTILE,
      risksIdentified: 'one\ntwo',
      residualRisk: 'low',
      supersedes: idIn(first, 'rsk'),
    });
    assessments = [idIn(first, 'att'), idIn(again, 'att')];
    await page.goto(`${node.baseUrl}/console/assessments/${assessments.join('/')}`);
    assert.match(await page.locator('main').innerText(), /changed/);
    assert.equal(seen.faults, []);
  });

  test('a hold keeps a content from being erased, and is released by a second person; what nothing keeps is erased', async () => {
    await using open = await signIn();
    const { page } = open;
    const lost = await node.attest({ text: 'to be erased' }, { sourceId: 'held' });
    const lock = { sourceId: 'held', scope: 'decisions', retentionPeriodDays: '1825', startsAt: '2026-01-01' };
    const held = await open.done('retention-lock', { ...lock, legalHold: 'yes', lockedBy: 'staff-1' });
    const lockId = idIn(held, 'rtl');
    const erasure = { attestationIds: lost, legalBasis: 'GDPR 17', requestedBy: 'dpo' };
    await open.send('erasure', erasure);
    assert.match(await page.locator('main').innerText(), /Not done/);
    await page.goto(`${node.baseUrl}/console/records/${lost}?payload=1`);
    assert.match(await page.locator('main').innerText(), /to be erased/);

    await page.goto(`${node.baseUrl}/console/retention?sourceId=held`);
    await page.getByRole('link', { name: 'Release the hold' }).click();
    await open.fillIn({ releasedBy: 'staff-1', reason: 'over' });
    await page.getByRole('button', { name: 'Record it' }).click();
    assert.match(await page.locator('main').innerText(), /Not done/);

    const { body } = await node.post('/v1/keys', { preset: 'admin', name: 'second' });
    await using second = await signIn({}, String(body.apiKey));
    await second.page.goto(`${node.baseUrl}/console/forms/hold-release?lockId=${lockId}`);
    await second.fillIn({ releasedBy: 'staff-2', reason: 'over' });
    await second.page.getByRole('button', { name: 'Record it' }).click();
    assert.match(await second.page.locator('main').innerText(), /● Done\./);
    const free = await node.attest({ text: 'nothing keeps it' }, { sourceId: 'free' });
    await open.done('erasure', { ...erasure, attestationIds: free });
    await page.goto(`${node.baseUrl}/console/records/${free}?payload=1`);
    assert.match(await page.locator('main').innerText(), /It was erased/);
  });

  test('every screen keeps its policy, asks nobody else, has no accessibility fault, and shows the figures of the API', async () => {
    await using open = await signIn({ viewport: NARROW });
    const { page, seen } = open;
    let figures = 0;
    for (const path of pathsOf({ decision, incident, assessments, webhook })) {
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(`${node.baseUrl}/console${path}`);
      assert.is(await page.locator('h1').count(), 1, path);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= NARROW.width, `${path}: ${width}`);
      figures += await open.requireFigures();
      assert.equal(await accessibilityFaults(page), [], path);
      // Forms are drawn by the same parts.
      if (path.startsWith('/forms/') && path !== '/forms/incident') continue;
      await page.emulateMedia({ colorScheme: 'dark' });
      assert.equal(await accessibilityFaults(page), [], `${path}, dark`);
    }
    assert.ok(figures > 30, String(figures));
    assert.equal(seen.faults, []);
    assert.equal(
      seen.requests.filter((url) => !url.startsWith(node.baseUrl) && !url.startsWith('data:')),
      [],
    );
  });

  test('all of it works from the keyboard, without scripts, and what is typed outlives a reload', async () => {
    await using open = await signIn({ javaScriptEnabled: false });
    await open.done('session-start', { sourceId: 'plain' });
    await using scripted = await signIn();
    const { page } = scripted;
    await page.goto(`${node.baseUrl}/console/forms/incident`);
    await scripted.fillIn({ description: 'half a report' });
    await page.reload();
    assert.is(await page.locator('[name=description]').inputValue(), 'half a report');
    assert.is(await page.evaluate(() => localStorage.length), 0);
    const order: string[] = [];
    await page.goto(`${node.baseUrl}/console/forms/session-start`);
    await until('the keyboard to reach the button', async () => {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => document.activeElement?.textContent ?? '');
      order.push(at);
      return at === 'Record it';
    });
    assert.is(order[0], 'Skip to the content');
  });

  test('a screen prints without its forms and its navigation', async () => {
    await using open = await signIn();
    const { page } = open;
    await page.goto(`${node.baseUrl}/console/incidents/${incident}`);
    await page.emulateMedia({ media: 'print' });
    assert.is(await page.locator('nav:visible, form:visible').count(), 0);
    assert.ok(await page.locator('h1').isVisible());
    await page.goto(`${node.baseUrl}/console`);
    assert.is(await page.locator('.chart:visible, .figures table:visible').count(), 4, 'each picture with its table');
  });
}

interface Made {
  readonly decision: string;
  readonly incident: string;
  readonly assessments: readonly string[];
  readonly webhook: string;
}

/** Every screen, of what was made, and every form. */
function pathsOf({ decision, incident, assessments, webhook }: Made): readonly string[] {
  const named: Readonly<Record<string, string>> = {
    '/records/:id': `/records/${decision}`,
    '/incidents/:id': `/incidents/${incident}`,
    '/assessments/:before/:after': `/assessments/${assessments.join('/')}`,
    '/registers/:list': '/registers/notifications',
    '/webhooks/:id': `/webhooks/${webhook}`,
    '/sources/:id': `/sources/${encodeURIComponent(HOSTILE)}`,
    '/frameworks/:id': `/frameworks/EU_AI_ACT?sourceId=${encodeURIComponent(HOSTILE)}`,
  };
  return [
    ...SCREENS.map(({ path }) => named[path] ?? path),
    `/retention?sourceId=${encodeURIComponent(HOSTILE)}`,
    ...FORMS.map(({ name }) => `/forms/${name}`),
  ];
}

test.run();
