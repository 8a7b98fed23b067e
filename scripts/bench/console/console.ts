import { SCREENS } from '../../../node/http/console/screens.ts';
import { member } from '../federation/cluster-client.ts';
import { type FilledCluster, fillCluster } from '../federation/filled-cluster.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { median } from '../statistics.ts';
import { count } from '../table.ts';

const FULL = { records: 10_000, incidents: 500, looks: 30 };
const QUICK = { records: 500, incidents: 20, looks: 3 };
const SOURCE = 'llm/model-1';
/** What a screen may take, in milliseconds. */
const AIM_MS = 300;

/** What the screens of the console take, one after the other. */
export const consoleScreens: Part = {
  name: 'console',
  title: 'The console: what a screen takes',
  async run(options): Promise<Result> {
    const { records, incidents, looks } = options.quick ? QUICK : FULL;
    await using filled = await fillCluster(options.home, records, options);
    const { baseUrl } = filled.cluster.node(0);
    const made = await makeRecords(filled, baseUrl, incidents, options);
    const cookie = await signIn(baseUrl, filled.cluster.apiKey);
    const rows: [string, string, string, string, string][] = [];
    for (const path of pathsOf(made)) {
      const times: number[] = [];
      let bytes = 0;
      for (let n = 0; n < looks; n++) {
        options.signal.throwIfAborted();
        const began = performance.now();
        const response = await fetch(`${baseUrl}/console${path}`, { headers: { cookie, 'sec-fetch-site': 'none' } });
        bytes = (await response.arrayBuffer()).byteLength;
        times.push(performance.now() - began);
        if (response.status !== 200) throw new Error(`/console${path} was answered ${response.status}`);
      }
      const usual = median(times);
      const part = `${(usual / AIM_MS).toFixed(2)}×`;
      rows.push([`/console${shownPath(path)}`, ms(usual), ms(Math.max(...times)), part, count(bytes)]);
    }
    return {
      table: [['', 'median', 'slowest', 'of the aim', 'bytes'], ...rows],
      notes: [
        `${count(records)} confirmed records of 20 sources and ${count(incidents)} incidents, a federation of five nodes beside it on the same`,
        `machine; each screen ${looks} times, one after the other, its HTML alone. The aim is ${AIM_MS} ms.`,
      ],
    };
  },
};

interface Made {
  readonly record: string;
  readonly incident: string;
  readonly assessments: string;
  readonly webhook: string;
}

async function makeRecords(
  { client, ids }: FilledCluster,
  baseUrl: string,
  incidents: number,
  { say, signal }: BenchOptions,
): Promise<Made> {
  let incident: unknown;
  for (let n = 0; n < incidents; n++) {
    signal.throwIfAborted();
    const at = new Date(Date.now() - (n % 30) * 86_400_000).toISOString();
    const body = {
      sourceId: SOURCE,
      severity: 'serious',
      description: `${n}`,
      incidentPeriodStart: at,
      awarenessAt: at,
    };
    incident = member(await client.post(`${baseUrl}/v1/incident`, body), 'incidentId');
  }
  say(`${count(incidents)} incidents recorded`);
  const assess = (supersedes: object): Promise<unknown> =>
    client.post(`${baseUrl}/v1/risk-assessment`, { sourceId: SOURCE, risksIdentified: ['one'], ...supersedes });
  const first = await assess({});
  const second = await assess({ supersedes: member(first, 'assessmentId') });
  const hook = { url: 'https://hooks.example/', events: ['key.expiring'] };
  return {
    record: ids[0] ?? '',
    incident: String(incident),
    assessments: [first, second].map((one) => String(member(one, 'attestationId'))).join('/'),
    webhook: String(member(await client.post(`${baseUrl}/v1/webhooks`, hook), 'webhookId')),
  };
}

async function signIn(baseUrl: string, apiKey: string): Promise<string> {
  const response = await fetch(`${baseUrl}/console/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ apiKey }),
    headers: { 'sec-fetch-site': 'same-origin' },
    redirect: 'manual',
  });
  const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';');
  if (cookie === '') throw new Error(`signing in was answered ${response.status}`);
  return cookie;
}

function pathsOf({ record, incident, assessments, webhook }: Made): readonly string[] {
  const source = encodeURIComponent(SOURCE);
  const named: Readonly<Record<string, string>> = {
    '/records/:id': `/records/${record}`,
    '/incidents/:id': `/incidents/${incident}`,
    '/assessments/:before/:after': `/assessments/${assessments}`,
    '/registers/:list': '/registers/notifications',
    '/webhooks/:id': `/webhooks/${webhook}`,
    '/sources/:id': `/sources/${source}`,
    '/retention': `/retention?sourceId=${source}`,
    '/frameworks/:id': `/frameworks/EU_AI_ACT?sourceId=${source}`,
  };
  return SCREENS.map(({ path }) => named[path] ?? path);
}

/** Ids are of no use in a table. */
function shownPath(path: string): string {
  return path.replace(/[a-z]{3}_[a-z]{2}_\w+/g, '…').replace(/\?.*$/, '');
}

function ms(milliseconds: number): string {
  return `${milliseconds.toFixed(0)} ms`;
}
