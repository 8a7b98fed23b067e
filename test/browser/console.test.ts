import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FORMS } from '../../node/http/console/forms.ts';
import { SCREENS } from '../../node/http/console/screens.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../../protocol/json/value.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { API_KEYS } from '../fixtures/test-node.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { until } from '../fixtures/until.ts';
import { accessibilityFaults } from './axe.ts';
import { launchChromium, watch } from './chromium.ts';

const HOSTILE = '<svg onload=alert(1)>\u202e"\'&';
const NARROW = { width: 320, height: 640 };
const KEY = API_KEYS.unmetered;
const MAX_DEPTH = 64;

const browser = await launchChromium('the console was not opened in a real one');
if (browser !== null) {
  const network = await TestNetwork.start({ ledger: 'local', config: { batchIntervalMs: 200 } });
  const node = network.node();
  test.after(async () => {
    await browser.close();
    await network[Symbol.asyncDispose]();
  });

  const signIn = async (options: Parameters<typeof browser.newContext>[0] = {}, key: string = KEY) => {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const seen = await watch(page);
    await page.goto(`${node.baseUrl}/console`);
    await page.getByLabel('API key (required)').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(/\/console$/);
    return { page, seen, [Symbol.asyncDispose]: () => context.close() };
  };
  const send = async (page: Page, form: string, fields: Readonly<Record<string, string>>): Promise<void> => {
    await page.goto(`${node.baseUrl}/console/forms/${form}`);
    await fill(page, fields);
    await page.locator('form.fields button').click();
    await page.waitForSelector('[role=status], [role=alert]');
  };
  const done = async (page: Page, form: string, fields: Readonly<Record<string, string>>): Promise<string> => {
    await send(page, form, fields);
    const text = await page.locator('main').innerText();
    assert.match(text, /● Done\./, text);
    return text;
  };
  const idIn = (text: string, prefix: string): string => new RegExp(`${prefix}_eu_\\w+`).exec(text)?.[0] ?? '';

  const decision = await node.attest({ text: HOSTILE }, { sourceId: HOSTILE });
  const hook = await node.post('/v1/webhooks', { url: 'http://127.0.0.1:9/', events: ['key.expiring'] });
  const webhook = String(hook.body.webhookId);
  let incident = '';
  let assessments: readonly string[] = [];

  test('a person registers a system, reviews a decision, reports an incident and goes on with it', async () => {
    await using open = await signIn();
    const { page, seen } = open;
    await done(page, 'system', { systemRef: HOSTILE, role: 'provider', intendedPurpose: HOSTILE, owner: HOSTILE });
    await page.goto(`${node.baseUrl}/console/records/${decision}`);
    await page.getByRole('link', { name: 'Record a review of it' }).click();
    assert.is(await page.getByLabel('Original attestation id (required)').inputValue(), decision);
    await fill(page, { reviewerId: 'staff-1', reviewOutcome: 'confirmed', overrideReason: HOSTILE });
    await page.getByRole('button', { name: 'Record it' }).click();
    assert.match(await page.locator('main').innerText(), /● Done\./);
    const reported = await done(page, 'incident', {
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
    await fill(page, { nonconformityDescription: HOSTILE, status: 'planned' });
    await page.getByRole('button', { name: 'Record it' }).click();
    assert.match(await page.locator('main').innerText(), /● Done\./);
    const first = await done(page, 'risk-assessment', {
      sourceId: HOSTILE,
      risksIdentified: 'one',
      residualRisk: 'high',
    });
    const again = await done(page, 'risk-assessment', {
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
    const held = await done(page, 'retention-lock', { ...lock, legalHold: 'yes', lockedBy: 'staff-1' });
    const lockId = idIn(held, 'rtl');
    const erasure = { attestationIds: lost, legalBasis: 'GDPR 17', requestedBy: 'dpo' };
    await send(page, 'erasure', erasure);
    assert.match(await page.locator('main').innerText(), /Not done/);
    await page.goto(`${node.baseUrl}/console/records/${lost}?payload=1`);
    assert.match(await page.locator('main').innerText(), /to be erased/);

    await page.goto(`${node.baseUrl}/console/retention?sourceId=held`);
    await page.getByRole('link', { name: 'Release the hold' }).click();
    await fill(page, { releasedBy: 'staff-1', reason: 'over' });
    await page.getByRole('button', { name: 'Record it' }).click();
    assert.match(await page.locator('main').innerText(), /Not done/);

    const { body } = await node.post('/v1/keys', { preset: 'admin', name: 'second' });
    await using second = await signIn({}, String(body.apiKey));
    await second.page.goto(`${node.baseUrl}/console/forms/hold-release?lockId=${lockId}`);
    await fill(second.page, { releasedBy: 'staff-2', reason: 'over' });
    await second.page.getByRole('button', { name: 'Record it' }).click();
    assert.match(await second.page.locator('main').innerText(), /● Done\./);
    const free = await node.attest({ text: 'nothing keeps it' }, { sourceId: 'free' });
    await done(page, 'erasure', { ...erasure, attestationIds: free });
    await page.goto(`${node.baseUrl}/console/records/${free}?payload=1`);
    assert.match(await page.locator('main').innerText(), /It was erased/);
  });

  test('every screen keeps its policy, asks nobody else, fits a narrow screen and has no accessibility fault', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await using open = await signIn({ colorScheme, viewport: NARROW });
      const { page, seen } = open;
      // Forms are drawn by the same parts.
      const isDark = colorScheme === 'dark';
      for (const path of pathsOf({ decision, incident, assessments, webhook })) {
        if (isDark && path.startsWith('/forms/') && path !== '/forms/incident') continue;
        await page.goto(`${node.baseUrl}/console${path}`);
        assert.is(await page.locator('h1').count(), 1, path);
        assert.equal(await accessibilityFaults(page), [], `${path}, ${colorScheme}`);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(width <= NARROW.width, `${path}: ${width}`);
      }
      assert.equal(seen.faults, []);
      assert.equal(
        seen.requests.filter((url) => !url.startsWith(node.baseUrl) && !url.startsWith('data:')),
        [],
      );
    }
  });

  test('every figure on a screen is the one that the API answers', async () => {
    await using open = await signIn();
    const { page } = open;
    let figures = 0;
    for (const path of pathsOf({ decision, incident, assessments, webhook })) {
      await page.goto(`${node.baseUrl}/console${path}`);
      for (const { json, member, row, field, value } of await page.evaluate(figuresOfPage)) {
        // What is counted by the minute has gone on since.
        if (json.startsWith('/v1/usage') || json.startsWith('/v1/audit-log')) continue;
        const answer = parseJson((await node.get(json)).text, { maxDepth: MAX_DEPTH });
        assert.is(
          String(valueAt(answer, [...pathParts(member), ...row, ...pathParts(field)])),
          value,
          `${json} ${field}`,
        );
        figures++;
      }
    }
    assert.ok(figures > 30, String(figures));
  });

  test('all of it works from the keyboard, without scripts, and what is typed outlives a reload', async () => {
    await using open = await signIn({ javaScriptEnabled: false });
    await done(open.page, 'session-start', { sourceId: 'plain' });
    await using scripted = await signIn();
    const { page } = scripted;
    await page.goto(`${node.baseUrl}/console/forms/incident`);
    await fill(page, { description: 'half a report' });
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
  });
}

async function fill(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(fields)) {
    const control = page.locator(`form.fields [name="${name}"]`);
    const tag = await control.evaluate((element) => element.tagName);
    if (tag === 'SELECT') await control.selectOption(value);
    else await control.fill(value);
  }
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

interface Figure {
  readonly json: string;
  readonly member: string;
  readonly row: readonly number[];
  readonly field: string;
  readonly value: string;
}

/** In the page: each figure, and where in which answer it stands. */
function figuresOfPage(): Figure[] {
  return [...document.querySelectorAll<HTMLDataElement>('data[data-field]')].flatMap((figure) => {
    const list = figure.closest<HTMLElement>('[data-json]');
    if (list === null) return [];
    const line = figure.closest('tr');
    const row = line === null ? [] : [[...(line.parentElement?.children ?? [])].indexOf(line)];
    const { json = '', member = '' } = list.dataset;
    return [{ json, member, row, field: figure.dataset.field ?? '', value: figure.value }];
  });
}

function pathParts(path: string): readonly string[] {
  return path === '' ? [] : path.split('.');
}

function valueAt(answer: JsonValue, path: readonly (number | string)[]): JsonValue | undefined {
  let value: JsonValue | undefined = answer;
  for (const part of path) {
    if (value === undefined) return undefined;
    if (isJsonArray(value)) value = value[Number(part)];
    else value = isJsonObject(value) ? value[String(part)] : undefined;
  }
  return value;
}

test.run();
