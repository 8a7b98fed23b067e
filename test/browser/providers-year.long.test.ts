import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isJsonArray } from '../../protocol/json/value.ts';
import { TestMailSink } from '../fixtures/mail-sink.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { until } from '../fixtures/until.ts';
import { launchChromium } from './chromium.ts';
import { ConsoleBrowser, idIn } from './console-browser.ts';

const DECISIONS = 1_000;
const SOURCE = 'loans';
const DAY_MS = 86_400_000;
const OWNER = 'owner@provider.example';
const COMPLIANCE = ['ada@provider.example', 'grace@provider.example'] as const;

const browser = await launchChromium('no provider’s year was walked in a real one');
if (browser !== null) {
  const sink = await TestMailSink.start();
  const network = await TestNetwork.start({ ledger: 'local', config: { mail: sink.config, batchIntervalMs: 200 } });
  const node = network.node();
  test.after(async () => {
    for (const one of [owner, ada, grace]) await one?.[Symbol.asyncDispose]();
    await browser.close();
    await network[Symbol.asyncDispose]();
    await sink[Symbol.asyncDispose]();
  });
  let owner: ConsoleBrowser | undefined;
  let ada: ConsoleBrowser | undefined;
  let grace: ConsoleBrowser | undefined;
  let apiKey = '';
  let decisions: readonly string[] = [];
  let incident = '';
  let assessments: readonly string[] = [];

  const signedIn = async (email: string): Promise<ConsoleBrowser> => {
    const page = await browser.newPage();
    await page.goto(`${node.baseUrl}/console/sign-in`);
    await page.getByLabel('Mail address (required)').fill(email);
    await page.getByRole('button', { name: 'Send me a link' }).click();
    await page.close();
    const { text } = await sink.waitForMail(email);
    const [, link = ''] = /^(http:\S+\/console\/enter\/[\w-]{43})$/m.exec(text) ?? [];
    return ConsoleBrowser.byLink(browser, node.baseUrl, link.replace('/verify/', '/'));
  };
  const who = (one: ConsoleBrowser | undefined): ConsoleBrowser => {
    if (one === undefined) throw new Error('nobody is signed in: an earlier step failed');
    return one;
  };

  test('a provider signs up, is mailed a key, signs in with it, and invites two people', async () => {
    const page = await browser.newPage();
    await page.goto(`${node.baseUrl}/sign-up`);
    await page.getByLabel('Mail address (required)').fill(OWNER);
    await page.getByRole('button', { name: 'Send me a key' }).click();
    await page.getByText('a mail is on its way').waitFor();
    await page.close();
    [apiKey = ''] = /^mk_\S+$/m.exec((await sink.waitForMail(OWNER)).text) ?? [];
    const found = await node.context.accounts.authenticate(apiKey);
    if (typeof found === 'string') throw new Error(found);
    await node.context.accounts.setTier(found.caller.account.id, 'enterprise');
    owner = await ConsoleBrowser.byKey(browser, node.baseUrl, apiKey);
    for (const email of COMPLIANCE) {
      await owner.done('person', { email, role: 'compliance' });
      await sink.waitForMail(email);
    }
    ada = await signedIn(COMPLIANCE[0]);
    grace = await signedIn(COMPLIANCE[1]);
    assert.match(await owner.open('/people'), /ada@provider\.example[\s\S]*grace@provider\.example/);
    assert.match(await ada.open('/people'), /▲/, 'who has no right to it is told so');
  });

  test('a system is registered, and its program sends a thousand decisions', async () => {
    await who(ada).done('system', {
      systemRef: 'credit-scoring',
      role: 'provider',
      intendedPurpose: 'Score applications for credit',
      owner: 'Lending',
      sources: SOURCE,
    });
    const records = Array.from({ length: DECISIONS }, (_, i) => {
      return { sourceId: SOURCE, eventType: 'DECISION', data: { application: i, score: i % 100 } };
    });
    const { status, body, text } = await node.post('/v1/tiered-attest-batch', records, { key: apiKey });
    assert.is(status, 200, text.slice(0, 500));
    const results = body.results !== undefined && isJsonArray(body.results) ? body.results : [];
    decisions = results.map((result) => String(Object(result).attestationId));
    assert.is(decisions.filter((id) => id.startsWith('att_eu_')).length, DECISIONS);
    const overview = await who(ada).open('');
    assert.match(overview, /Records today/);
    await who(ada).requireFigures();
    assert.match(await who(ada).open('/systems'), /credit-scoring/);
    const walked = new Set<string>();
    await who(ada).open(`/records?sourceId=${SOURCE}`);
    for (let pages = 0; pages < 3; pages++) {
      for (const id of (await who(ada).text()).match(/att_eu_\w+/g) ?? []) walked.add(id);
      await who(ada).page.getByRole('link', { name: 'Next page' }).click();
    }
    assert.ok(walked.size >= 100, 'pages follow one another');
  });

  test('a person reviews one of them', async () => {
    const [decision = ''] = decisions;
    const { page } = who(ada);
    await who(ada).open(`/records/${decision}`);
    await page.getByRole('link', { name: 'Record a review of it' }).click();
    await who(ada).fillIn({ reviewerId: 'staff-1', reviewOutcome: 'confirmed', overrideReason: 'as expected' });
    await page.getByRole('button', { name: 'Record it' }).click();
    assert.match(await who(ada).text(), /● Done\./);
  });

  test('an incident whose clock was missed, and one whose clock is kept, and what is done about it', async () => {
    const report = { sourceId: SOURCE, severity: 'serious', role: 'provider', criteria: 'fundamental-rights' };
    const long = new Date(Date.now() - 200 * DAY_MS).toISOString();
    const missed = await who(ada).done('incident', {
      ...report,
      description: 'Found late',
      incidentPeriodStart: long,
      awarenessAt: long,
    });
    const now = new Date(Date.now() - 3_600_000).toISOString();
    const kept = await who(ada).done('incident', {
      ...report,
      description: 'Found at once',
      incidentPeriodStart: now,
      awarenessAt: now,
    });
    incident = idIn(kept, 'inc');
    await who(ada).done('notification', {
      sourceId: SOURCE,
      incidentId: incident,
      to: 'authority',
      reportType: 'initial',
      sentAt: new Date().toISOString(),
    });
    assert.match(await who(ada).open(`/incidents/${idIn(missed, 'inc')}`), /missed so far/);
    assert.match(await who(ada).open(`/incidents/${incident}`), /kept/);
    await who(ada).requireFigures();
    const action = { sourceId: SOURCE, incidentId: incident, nonconformityDescription: 'Scores were too low' };
    const planned = await who(ada).done('corrective-action', { ...action, status: 'planned' });
    const correctiveActionId = idIn(planned, 'cra');
    await who(grace).done('corrective-action', { ...action, status: 'implemented', correctiveActionId });
    assert.match(await who(ada).open(`/incidents/${incident}`), /implemented/);
  });

  test('an assessment is revised, and both are compared', async () => {
    const base = { sourceId: SOURCE, systemRef: 'credit-scoring' };
    const first = await who(ada).done('risk-assessment', { ...base, risksIdentified: 'bias', residualRisk: 'high' });
    const again = await who(ada).done('risk-assessment', {
      ...base,
      risksIdentified: 'bias\ndrift',
      residualRisk: 'low',
      supersedes: idIn(first, 'rsk'),
    });
    assessments = [idIn(first, 'att'), idIn(again, 'att')];
    assert.match(await who(ada).open(`/assessments/${assessments.join('/')}`), /changed/);
  });

  test('a hold keeps a content from being erased until a second person releases it', async () => {
    const [, , lost = ''] = decisions;
    const lock = { sourceId: SOURCE, scope: 'decisions', retentionPeriodDays: '1825', startsAt: '2026-01-01' };
    const held = await who(ada).done('retention-lock', { ...lock, legalHold: 'yes', lockedBy: 'ada' });
    const erasure = { attestationIds: lost, legalBasis: 'GDPR 17', requestedBy: 'dpo' };
    assert.match(await who(owner).send('erasure', erasure), /Not done/);
    const lockId = idIn(held, 'rtl');
    assert.match(await who(ada).send('hold-release', { lockId, releasedBy: 'ada', reason: 'over' }), /Not done/);
    await who(grace).done('hold-release', { lockId, releasedBy: 'grace', reason: 'over' });
    const free = { sourceId: 'free' };
    const { body } = await node.post(
      '/v1/tiered-attest',
      { ...free, eventType: 'DECISION', data: { n: 1 } },
      { key: apiKey },
    );
    await who(owner).done('erasure', { ...erasure, attestationIds: String(body.attestationId) });
    assert.match(await who(owner).open(`/records/${String(body.attestationId)}?payload=1`), /It was erased/);
  });

  test('the gap report of a framework tells clause by clause, and never says that anything is compliant', async () => {
    const report = await who(ada).open(`/frameworks/EU_AI_ACT?sourceId=${SOURCE}`);
    assert.match(report, /Article|Art\./);
    assert.not.match(report, /\bcompliant\b/i);
    assert.ok((await who(ada).requireFigures()) > 0);
  });

  test('the year is handed to an auditor as a pack', async () => {
    const day = (offset: number): string => new Date(Date.now() + offset * DAY_MS).toISOString().slice(0, 10);
    await who(ada).done('evidence-pack', { sources: SOURCE, from: day(-365), to: day(1) });
    const { page } = who(ada);
    await until('the pack to be made', async () => /ready/.test(await who(ada).open('/packs')));
    const coming = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    const file = await (await coming).createReadStream();
    let begin = Buffer.alloc(0);
    for await (const chunk of file) {
      begin = Buffer.concat([begin, Buffer.from(chunk)]);
      if (begin.length >= 4) break;
    }
    assert.is(begin.subarray(0, 2).toString(), 'PK');
  });

  test('every number on every screen of that year is the API’s', async () => {
    let figures = 0;
    const paths = ['', '/systems', '/oversight', '/incidents', '/assessments', '/retention', '/packs', '/records'];
    for (const path of [...paths, `/sources/${SOURCE}`, `/incidents/${incident}`]) {
      await who(ada).open(path);
      figures += await who(ada).requireFigures();
    }
    for (const path of ['/keys', '/people', '/webhooks', '/agents', '/usage']) {
      await who(owner).open(path);
      figures += await who(owner).requireFigures();
    }
    assert.ok(figures > 50, String(figures));
    // A browser tells of each page that says no to a form.
    const isFault = (fault: string): boolean => !fault.startsWith('Failed to load resource');
    for (const one of [owner, ada, grace]) assert.equal(who(one).seen.faults.filter(isFault), []);
  });
}

test.run();
