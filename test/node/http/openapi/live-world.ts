import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from '../../../../protocol/api/example-ids.ts';
import { PEOPLE_EXAMPLE } from '../../../../protocol/api/people.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../../protocol/json/value.ts';
import type { ApiDocument, Operation } from '../../../fixtures/api-document.ts';
import type { HttpAnswer, NodeClient } from '../../../fixtures/node-client.ts';
import { until } from '../../../fixtures/until.ts';

/** How much of an example is sent: all of it, or what is required alone. */
export type Variant = 'whole' | 'least';

export interface LiveRequest {
  readonly path: string;
  readonly body: JsonValue | undefined;
}

interface Fixtures {
  readonly node: NodeClient;
  readonly document: ApiDocument;
  /** Of the caller who makes what examples name; another one of the same account sends the examples. */
  readonly makerKey: string;
  /** Token of a link that replaces lost keys of the same account. Default: one of nothing. */
  readonly link?: () => Promise<string>;
  /** Has a person show a second factor. Default: nobody does. */
  readonly secondFactor?: (person: string) => Promise<void>;
  /** Has the node look for what is due. Without it nothing is delivered to a webhook. */
  readonly look?: () => Promise<void>;
  /** How long a maker waits for the ledger, in seconds. Default 20. */
  readonly patience?: number;
}

type ExampleName = keyof typeof EXAMPLE_IDS;

/** The operation whose example makes the thing, and the member of its answer that names it. */
interface Maker {
  readonly operation: string;
  readonly member: string;
  readonly body?: JsonObject;
}

const SESSION = { operation: 'postSessionStart' };
const INCIDENT = { operation: 'postIncident' };
const ACTION = { operation: 'postCorrectiveAction', body: { status: 'planned' } };
const LOCK = { operation: 'postRetentionLock', body: { legalHold: true, lockedBy: 'the maker of this world' } };
const AGENT = { operation: 'postAgentsRegister' };

const MAKERS: Partial<Readonly<Record<ExampleName, Maker>>> = {
  decision: { operation: 'postTieredAttest', member: 'attestationId' },
  sessionStart: { ...SESSION, member: 'attestationId' },
  session: { ...SESSION, member: 'sessionId' },
  incidentRecord: { ...INCIDENT, member: 'attestationId' },
  incident: { ...INCIDENT, member: 'incidentId' },
  correctiveActionRecord: { ...ACTION, member: 'attestationId' },
  correctiveAction: { ...ACTION, member: 'correctiveActionId' },
  lockRecord: { ...LOCK, member: 'attestationId' },
  lock: { ...LOCK, member: 'lockId' },
  registrationRecord: { ...AGENT, member: 'attestationId' },
  registration: { ...AGENT, member: 'registrationId' },
  agent: { ...AGENT, member: 'agentId' },
  key: { operation: 'postKeys', member: 'key.id' },
  calendarAddress: { operation: 'postCalendar', member: 'url' },
  person: { operation: 'postPeople', member: 'personId' },
  webhook: { operation: 'postWebhooks', member: 'webhookId' },
  policy: { operation: 'postOversightPolicies', member: 'policyId' },
  share: { operation: 'postBundlesIdShare', member: 'share.shareId' },
  pack: { operation: 'postEvidencePacks', member: 'packId' },
  shareAddress: { operation: 'postBundlesIdShare', member: 'apiUrl' },
};
/** Members of an example that would make its operation go on with a thing instead of making it. */
const CONTINUES: Readonly<Record<string, readonly string[]>> = { postCorrectiveAction: ['correctiveActionId'] };
/** The node of these worlds is the only member of its federation; the example names others. */
const MEMBERS: JsonObject = { nodes: ['eu'] };
const PATIENCE_SECONDS = 20;
let mails = 0;

/** What the examples of one call name, made for it: the fixed ids and the times in them are replaced by live ones. */
export class LiveWorld {
  readonly #services: Fixtures;
  readonly #name: string;
  readonly #made = new Map<string, Promise<string>>();
  readonly #answers = new Map<string, Promise<JsonObject>>();
  /** What the examples' day is away from today. In milliseconds. */
  readonly #shift = Date.now() - Date.parse(EXAMPLE_SUBMITTED_AT);

  /** `name` sets its sources and agents apart from those of other worlds. */
  constructor(services: Fixtures, name: string) {
    this.#services = services;
    this.#name = name;
  }

  /** The request that an operation's example stands for, here and now. */
  async request(operation: Operation, variant: Variant): Promise<LiveRequest> {
    const path = await this.#pathOf(operation);
    const query = new URLSearchParams();
    for (const { place, name, example, required } of operation.parameters) {
      if (place !== 'query' || name === 'cursor') continue;
      if (required || variant === 'whole') query.set(name, String(await this.#live(example, operation)));
    }
    const search = query.size === 0 ? '' : `?${query}`;
    return { path: path + search, body: await this.#body(operation, variant) };
  }

  async #pathOf(operation: Operation): Promise<string> {
    let path = operation.template;
    for (const { place, name, example } of operation.parameters) {
      if (place !== 'path') continue;
      path = path.replace(`{${name}}`, encodeURIComponent(String(await this.#live(example, operation))));
    }
    return path;
  }

  async #body(operation: Operation, variant: Variant): Promise<JsonValue | undefined> {
    const example = operation.request?.examples[0];
    if (example === undefined) return undefined;
    if (operation.id === 'postBundlesVerify') return this.#bundle();
    if (operation.id === 'putAccount') return MEMBERS;
    if (isJsonArray(example)) return this.#live(variant === 'whole' ? example : example.slice(0, 1), operation);
    const required = operation.request?.form.required ?? [];
    const least = isJsonArray(required) ? required : [];
    const members = Object.entries(isJsonObject(example) ? example : {});
    const wanted = members.filter(([name]) => variant === 'whole' || least.includes(name));
    return this.#live(Object.fromEntries(wanted), operation);
  }

  async #bundle(): Promise<JsonValue> {
    const { node, makerKey } = this.#services;
    const path = `/v1/bundles/${await this.#make('decision')}?disclosure=1&linked=1&partial=1`;
    return requireAccepted(path, await node.get(path, { key: makerKey })).body;
  }

  async #live(value: JsonValue, operation: Operation): Promise<JsonValue> {
    if (typeof value === 'string') return this.#liveText(value, operation);
    if (isJsonArray(value)) return Promise.all(value.map((item) => this.#live(item, operation)));
    if (!isJsonObject(value)) return value;
    const live: [string, JsonValue][] = [];
    for (const [name, member] of Object.entries(value)) live.push([name, await this.#live(member, operation)]);
    return Object.fromEntries(live);
  }

  async #liveText(text: string, operation: Operation): Promise<string> {
    if (/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text)) return new Date(Date.parse(text) + this.#shift).toISOString();
    if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return new Date(Date.parse(text) + this.#shift).toISOString().slice(0, 10);
    // One more for each: a person is invited once, and mailed seldom.
    if (text === PEOPLE_EXAMPLE.request.email) return text.replace('@', `+${++mails}@`);
    const name = nameOf(text);
    return name === undefined ? text : this.#make(name, operation);
  }

  /** `user`: the operation whose example names it. Who registers an agent names one that is not there yet. */
  async #make(name: ExampleName, user?: Operation): Promise<string> {
    if (name === 'source') return this.#source(user);
    if (name === 'systemRef') return this.#system(user);
    // Without a node that mails nobody is invited.
    if (name === 'person' && this.#services.look === undefined) return EXAMPLE_IDS.person;
    if (name === 'delivery') return this.#delivery();
    if (name === 'signIn') return this.#signIn();
    if (name === 'link') return this.#services.link?.() ?? EXAMPLE_IDS.link;
    if (name === 'shareToken') return (await this.#make('shareAddress')).split('/').at(-1) ?? '';
    if (name === 'calendarToken') return (await this.#make('calendarAddress')).split('/').at(-2) ?? '';
    const maker = MAKERS[name];
    if (maker === undefined) throw new RangeError(`nothing makes what the example ${name} names`);
    if (name === 'agent' && user?.id === maker.operation) return `agent ${this.#name}`;
    const made = this.#made.get(name) ?? this.#answerOf(maker).then((answer) => memberOf(answer, maker.member));
    this.#made.set(name, made);
    if (user?.id === 'deleteSecondFactorsHolder') await this.#services.secondFactor?.(await made);
    return made;
  }

  /** What a webhook is told: that a key of the account ends soon. */
  async #delivery(): Promise<string> {
    const { node, makerKey, look } = this.#services;
    if (look === undefined) return EXAMPLE_IDS.delivery;
    const webhook = await this.#make('webhook');
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const ask = { key: makerKey };
    requireAccepted('keys', await node.post('/v1/keys', { preset: 'ingest', expiresAt }, ask));
    let deliveryId = '';
    await until('something to be told', async () => {
      await look();
      const path = `/v1/webhooks/${webhook}/deliveries`;
      const { items } = requireAccepted('deliveries', await node.get(path, ask)).body;
      const [first] = items !== undefined && isJsonArray(items) ? items.filter(isJsonObject) : [];
      deliveryId = String(first?.deliveryId ?? '');
      return deliveryId !== '';
    });
    return deliveryId;
  }

  /** Somebody who signs in at the console as a browser does. */
  async #signIn(): Promise<string> {
    const { node, makerKey } = this.#services;
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
    const body = new URLSearchParams({ apiKey: makerKey });
    await fetch(`${node.baseUrl}/console/sign-in`, { method: 'POST', headers, body, redirect: 'manual' });
    const { signIns } = requireAccepted('sign-ins', await node.get('/v1/sign-ins', { key: makerKey })).body;
    const [newest] = signIns !== undefined && isJsonArray(signIns) ? signIns.filter(isJsonObject) : [];
    return String(newest?.signInId);
  }

  /** Who asks about a source asks about one that has a record. */
  async #source(user: Operation | undefined): Promise<string> {
    if (user?.method === 'GET' || user?.id === MAKERS.pack?.operation) await this.#make('decision');
    return `loan-model/${this.#name}`;
  }

  /** Who asks about a system asks about one of the register. */
  async #system(user: Operation | undefined): Promise<string> {
    if (user?.method === 'GET') await this.#answerOf({ operation: 'postSystem', member: 'systemId' });
    return EXAMPLE_IDS.systemRef;
  }

  #answerOf(maker: Maker): Promise<JsonObject> {
    const answer = this.#answers.get(maker.operation) ?? this.#drive(maker);
    this.#answers.set(maker.operation, answer);
    return answer;
  }

  /** A pack has a file once it is made, which takes what is on the ledger. */
  #readyPack(id: string): Promise<void> {
    const { node, makerKey } = this.#services;
    return until(`${id} to be made`, async () => {
      const { body } = await node.get(`/v1/evidence-packs/${id}`, { key: makerKey });
      return body.state === 'ready' || body.state === 'failed';
    });
  }

  async #drive({ operation: id, body = {} }: Maker): Promise<JsonObject> {
    const { node, document, makerKey, patience = PATIENCE_SECONDS } = this.#services;
    const operation = document.operation(id);
    const left = CONTINUES[id] ?? [];
    const example = Object.entries(Object(operation.request?.examples[0]) as JsonObject);
    const members = Object.fromEntries(example.filter(([name]) => !left.includes(name)));
    const live = await this.#live({ ...members, ...body }, operation);
    // Things are on the ledger when they are used, as most are in real life.
    const headers = { prefer: `wait=${patience}` };
    const path = await this.#pathOf(operation);
    const made = requireAccepted(id, await node.post(path, live, { key: makerKey, headers })).body;
    if (id === MAKERS.pack?.operation && patience > 0) await this.#readyPack(memberOf(made, 'packId'));
    return made;
  }
}

/** The answer, where it is one of acceptance. Throws else. */
export function requireAccepted(what: string, answer: HttpAnswer): HttpAnswer {
  if (answer.status !== 200) throw new Error(`${what} answered ${answer.status}: ${answer.text}`);
  return answer;
}

function nameOf(text: string): ExampleName | undefined {
  const found = Object.entries(EXAMPLE_IDS).find(([, id]) => id === text)?.[0];
  return found !== undefined && isExampleName(found) ? found : undefined;
}

function isExampleName(name: string): name is ExampleName {
  return Object.hasOwn(EXAMPLE_IDS, name);
}

function memberOf(answer: JsonObject, path: string): string {
  let value: JsonValue = answer;
  for (const name of path.split('.')) value = isJsonObject(value) ? (value[name] ?? null) : null;
  if (typeof value !== 'string') throw new Error(`the answer has no ${path}: ${JSON.stringify(answer)}`);
  return value;
}
