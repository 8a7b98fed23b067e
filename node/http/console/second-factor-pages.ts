import { isSecondFactorId, type SecondFactorId, SecondFactorNameShape } from '../../../protocol/api/second-factors.ts';
import { Compile } from '../../../protocol/shape-check.ts';
import { creationOptions, passkeyChallenge } from '../../accounts/second-factors/passkeys.ts';
import { NOTHING_SHOWN, passkeysOf, type ShownFactor } from '../../accounts/second-factors/proof.ts';
import type { SecondFactors as HeldFactors } from '../../accounts/second-factors/second-factor-table.ts';
import type { Holder, SecondFactors } from '../../accounts/second-factors/second-factors.ts';
import type { SignedIn } from '../../accounts/sign-ins/sign-ins.ts';
import type { FormField, FormSection, Section } from '../../pages/console-page.ts';
import { readFormBody } from '../body.ts';
import { problemOf } from '../domain-problems.ts';
import { fieldProblem, type Problem, toProblem } from '../problem.ts';
import type { Answer, PageRoute } from '../route.ts';
import { consolePage, type ConsolePageServices, refused, signedInRoute } from './console-page.ts';
import { requireToken } from './form-token.ts';
import { CODE_FIELD, factorForms, shownBy } from './shown-factor.ts';

const PATH = '/console/second-factor';
const BODY = { maxBytes: 32 << 10 };
const nameCheck = Compile(SecondFactorNameShape);
/** The field for a code of a factor that is there already. */
const PROOF = 'proof';

export interface SecondFactorPageServices extends ConsolePageServices {
  readonly secondFactors: SecondFactors;
}

/** Whose second factors a page is about, and as what they are signed in. */
interface Own {
  readonly of: Holder;
  readonly signedIn: SignedIn;
  /** What challenges follow from. */
  readonly secret: string;
}

/** The second factors of whoever is signed in by mail: they add them, take them away, and renew recovery codes. */
export function secondFactorPageRoutes(services: SecondFactorPageServices): readonly PageRoute[] {
  const { secondFactors } = services;
  return [
    signedInRoute(services, 'GET', PATH, async ({ query }, { signedIn }) => {
      const own = ownOf(signedIn);
      if (own === undefined) return shown(services, PATH, signedIn, [BY_KEY]);
      const chosen = query.get('remove');
      return shown(services, PATH, signedIn, await overview(services, own, chosen));
    }),
    changeRoute(services, 'totp', (typed, { of, signedIn }) => {
      const app = {
        id: idOf(typed.get('id')),
        name: nameOf(typed, 'Authenticator app'),
        code: typed.get('code') ?? '',
      };
      return secondFactors.addTotp(of, app, proofBy(typed), byOf(signedIn));
    }),
    changeRoute(services, 'passkey', (typed, { of, signedIn, secret }) => {
      const made = { ...shownBy(typed, secret), name: nameOf(typed, 'Passkey') };
      return secondFactors.addPasskey(of, made, proofBy(typed), byOf(signedIn));
    }),
    changeRoute(services, 'remove', async (typed, { of, signedIn, secret }) => {
      await secondFactors.remove(of, typed.get('id') ?? '', shownBy(typed, secret), byOf(signedIn));
      return [];
    }),
    changeRoute(services, 'codes', (typed, { of, signedIn, secret }) => {
      return secondFactors.renewRecoveryCodes(of, shownBy(typed, secret), byOf(signedIn));
    }),
  ];
}

/** `change` resolves with recovery codes that are shown now, once. */
function changeRoute(
  services: SecondFactorPageServices,
  name: string,
  change: (typed: URLSearchParams, own: Own) => Promise<readonly string[]>,
): PageRoute {
  const path = `${PATH}/${name}`;
  return signedInRoute(services, 'POST', path, async ({ context }, { signedIn }) => {
    const typed = await readFormBody(context.req, BODY);
    requireToken(context.req, typed, signedIn);
    const own = ownOf(signedIn);
    if (own === undefined) return shown(services, path, signedIn, [BY_KEY], 403);
    try {
      const codes = await change(typed, own);
      return await shown(services, path, signedIn, [DONE, ...codesOf(codes), ...(await overview(services, own, null))]);
    } catch (error) {
      const problem: Problem = toProblem(problemOf(error));
      if (problem.isFault) throw problem;
      // The app that was set up by the picture is set up by the same picture again.
      const id = typed.get('id') ?? '';
      const again = name === 'totp' && isSecondFactorId(id) ? id : undefined;
      const chosen = name === 'remove' ? id : null;
      const sections = [refused(problem), ...(await overview(services, own, chosen, again))];
      return shown(services, path, signedIn, sections, problem.status);
    }
  });
}

function shown(
  services: ConsolePageServices,
  path: string,
  signedIn: SignedIn,
  sections: readonly Section[],
  status = 200,
): Promise<Answer> {
  return consolePage(services, path, signedIn, { title: 'Second factor', screen: null, sections, status });
}

function ownOf(signedIn: SignedIn): Own | undefined {
  const { account, holder } = signedIn.signIn;
  return holder === undefined ? undefined : { of: { account, holder }, signedIn, secret: signedIn.secret };
}

function byOf({ caller }: SignedIn) {
  return { key: caller.key.id };
}

/** `chosen`: the one that is to be taken away. `setUp`: the one that an app was set up for. */
async function overview(
  { secondFactors }: SecondFactorPageServices,
  own: Own,
  chosen: string | null,
  setUp: SecondFactorId = secondFactors.newId(),
): Promise<readonly Section[]> {
  const held = await secondFactors.of(own.of);
  if (chosen !== null && held !== undefined) return removing(secondFactors, own, held, chosen);
  return [
    listOf(held),
    ...(await appForms(secondFactors, own, held, setUp)),
    ...(await passkeyForms(secondFactors, own, held)),
    ...(held === undefined ? [] : await factorForms(secondFactors, held, own.secret, RENEW)),
  ];
}

function listOf(held: HeldFactors | undefined): Section {
  return {
    kind: 'table',
    title: 'What you show beside a mailed link',
    about:
      held === undefined
        ? 'Nothing yet: whoever reads your mail can sign in as you.'
        : `One of these, or one of ${held.recoveryCodes.length} recovery codes that are left.`,
    json: null,
    member: 'factors',
    columns: [
      { field: 'name', title: 'Name' },
      { field: 'kind', title: 'Kind' },
      { field: 'createdAt', title: 'Added' },
      { field: 'lastUsedAt', title: 'Last used' },
      { field: 'ways', title: 'What you can do' },
    ],
    rows: (held?.factors ?? []).map(({ id, name, kind, createdAt, lastUsedAt }) => [
      { kind: 'text', text: name },
      { kind: 'text', text: KINDS[kind] },
      { kind: 'moment', at: createdAt },
      lastUsedAt === null ? { kind: 'none' } : { kind: 'moment', at: lastUsedAt },
      { kind: 'link', text: 'Remove', href: `console/second-factor?remove=${id}` },
    ]),
    empty: { text: 'Nothing is shown beside the link.', curl: null },
    next: null,
  };
}

async function appForms(
  factors: SecondFactors,
  { of }: Own,
  held: HeldFactors | undefined,
  id: SecondFactorId,
): Promise<readonly Section[]> {
  const { uri, secret } = await factors.setupOf(of, id);
  return [
    {
      kind: 'qr',
      title: 'Add an authenticator app',
      about: 'Scan the picture with the app, or type the text into it. Then type the code that it shows.',
      text: uri,
      copy: secret,
    },
    {
      ...FORM,
      title: 'The code that it shows',
      action: `${PATH.slice(1)}/totp`,
      hidden: [['id', id]],
      fields: [NAME_FIELD, { ...CODE_FIELD, help: 'Six digits.' }, ...proofFields(held)],
      submit: 'Add the app',
    },
  ];
}

async function passkeyForms(
  { site }: SecondFactors,
  { of, secret }: Own,
  held: HeldFactors | undefined,
): Promise<readonly Section[]> {
  if (site === null) return [];
  const options = await creationOptions(site, of, passkeysOf(held), passkeyChallenge(secret));
  const form: FormSection = {
    ...FORM,
    title: 'Add a passkey',
    about: `Of this device, or of a security key. It works at ${site.host} alone.`,
    action: `${PATH.slice(1)}/passkey`,
    fields: [NAME_FIELD, ...proofFields(held)],
    submit: 'Add a passkey',
    passkey: { ceremony: 'create', options: JSON.stringify(options) },
  };
  return [form];
}

async function removing(
  factors: SecondFactors,
  { secret }: Own,
  held: HeldFactors,
  id: string,
): Promise<readonly Section[]> {
  const factor = held.factors.find((one) => one.id === id);
  if (factor === undefined) return [refused(new Error('You have no second factor of this id.'))];
  const form: FormSection = {
    ...FORM,
    title: `Remove ${factor.name}`,
    about: 'Show it once more, or another one.',
    danger: held.factors.length > 1 ? null : 'It is your last one: a mailed link alone signs you in then.',
    action: `${PATH.slice(1)}/remove`,
    hidden: [['id', factor.id]],
    submit: 'Remove it',
  };
  return factorForms(factors, held, secret, form);
}

/** Who has a second factor shows one to add another. */
function proofFields(held: HeldFactors | undefined): readonly FormField[] {
  if (held === undefined) return [];
  return [{ ...CODE_FIELD, name: PROOF, title: 'Code of one that you have', help: 'Or one of your recovery codes.' }];
}

function proofBy(typed: URLSearchParams): ShownFactor {
  return { ...NOTHING_SHOWN, code: typed.get(PROOF)?.trim() ?? '' };
}

/** Recovery codes are shown once. */
function codesOf(codes: readonly string[]): readonly Section[] {
  if (codes.length === 0) return [];
  return [
    {
      kind: 'text',
      title: 'Recovery codes',
      tone: 'good',
      paragraphs: [
        'Each is good once in the place of a second factor that you lost. They are shown once, now: keep them.',
      ],
      copy: codes.join('\n'),
    },
  ];
}

/** Throws `Problem` 400. */
function idOf(text: string | null): SecondFactorId {
  if (text !== null && isSecondFactorId(text)) return text;
  throw fieldProblem('id', 'form', 'is no id of a second factor');
}

/** Throws `Problem` 400. */
function nameOf(typed: URLSearchParams, otherwise: string): string {
  const name = typed.get('name')?.trim() ?? '';
  if (name === '') return otherwise;
  if (nameCheck.Check(name)) return name;
  throw fieldProblem('name', 'form', 'is too long, or has characters that are no text');
}

const KINDS = { passkey: 'passkey', totp: 'authenticator app' } as const;
const FORM = {
  kind: 'form',
  about: null,
  danger: null,
  method: 'post',
  fields: [],
  hidden: [],
  isDrafted: false,
} as const satisfies Partial<FormSection>;
const RENEW: FormSection = {
  ...FORM,
  title: 'Renew the recovery codes',
  about: 'Those that you have are void then.',
  action: `${PATH.slice(1)}/codes`,
  submit: 'Renew them',
};
const NAME_FIELD: FormField = {
  ...CODE_FIELD,
  name: 'name',
  title: 'Name',
  isRequired: false,
  help: 'By which you know it again.',
  maxLength: 100,
};
const DONE: Section = { kind: 'text', title: null, tone: 'good', paragraphs: ['● Done.'], copy: null };
const BY_KEY: Section = {
  kind: 'text',
  title: null,
  tone: 'none',
  paragraphs: [
    'You are signed in by an API key: who has the key needs no console, so nothing is asked beside it.',
    'Second factors belong to those who sign in by a mailed link.',
  ],
  copy: null,
};
