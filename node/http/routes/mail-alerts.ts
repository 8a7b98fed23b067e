import { type MailReader, OWNER } from '../../../protocol/api/people.ts';
import {
  MAIL_ALERTS_EXAMPLE,
  MailAlertsAnswerShape,
  type MailAlertsRequest,
  MailAlertsRequestShape,
  ShownMailAlertsAnswerShape,
  StoppedMailAlertsAnswerShape,
} from '../../../protocol/api/mail-alerts.ts';
import type { Caller } from '../../accounts/caller.ts';
import type { People } from '../../accounts/people/people.ts';
import { AlertRefusal } from '../../alerts/alert-refusal.ts';
import { mailAlertAnswer } from '../../alerts/mail/mail-alert-tables.ts';
import type { MailAlerts } from '../../alerts/mail/mail-alerts.ts';
import { readJsonBody } from '../body.ts';
import { type AddressOf, requireHome } from '../home-only.ts';
import { Problem } from '../problem.ts';
import type { KeyRoute } from '../route.ts';
import { validator } from '../validation.ts';
import { requireWholeAccount } from '../whole-account.ts';

const PATH = '/v1/mail-alerts';
const BODY = { maxBytes: 4 << 10 };
const validate = validator(MailAlertsRequestShape);

export interface MailAlertRouteServices {
  readonly mailAlerts: MailAlerts;
  readonly people: Pick<People, 'requireWithin'>;
  readonly addressOf: AddressOf;
}

/** `/v1/mail-alerts` (api-rules §2.13): of what the caller is told by mail. */
export function mailAlertRoutes(services: MailAlertRouteServices): readonly KeyRoute[] {
  return [showRoute(services), setRoute(services), endRoute(services)];
}

function showRoute({ mailAlerts }: MailAlertRouteServices): KeyRoute {
  return {
    method: 'GET',
    path: PATH,
    access: 'key',
    scope: 'export:read',
    documentation: {
      summary: 'Of what the caller is told by mail',
      description: 'Null where it is nothing.',
      answer: { shape: ShownMailAlertsAnswerShape, example: MAIL_ALERTS_EXAMPLE.shown },
      problems: [],
    },
    async answer(_call, caller) {
      const alert = mailAlerts.find(caller.account.id, await mailAlerts.recipientOf(caller));
      return { body: { success: true, mailAlerts: alert === undefined ? null : mailAlertAnswer(alert) } };
    },
  };
}

function setRoute({ mailAlerts, people, addressOf }: MailAlertRouteServices): KeyRoute {
  return {
    method: 'PUT',
    path: PATH,
    access: 'key',
    scope: 'export:read',
    documentation: {
      summary: 'Has the caller told of events by mail',
      description:
        'In a mail an hour or a day, where something was found, to the address that signs in: that of the person whose ' +
        'key it is, for one that may do and see all that they do, else that of the account, for a key with `keys:admin`. ' +
        'Mails hold ids and states alone, and an address that stops them at one click (RFC 8058). In the place of what was set before.',
      request: { shape: MailAlertsRequestShape, example: MAIL_ALERTS_EXAMPLE.request },
      answer: { shape: MailAlertsAnswerShape, example: MAIL_ALERTS_EXAMPLE.shown },
      problems: ['missing-field', 'invalid-field', 'no-mail-address', 'home-only'],
    },
    async answer({ context }, caller) {
      requireHome(caller, addressOf);
      const request = validate((await readJsonBody(context.req, BODY)).value);
      const recipient = await mailAlerts.recipientOf(caller);
      await requireReader(people, caller, recipient, request);
      const alert = await set(mailAlerts, caller, recipient, request);
      return { body: { success: true, mailAlerts: mailAlertAnswer(alert) } };
    },
  };
}

function endRoute({ mailAlerts, people }: MailAlertRouteServices): KeyRoute {
  return {
    method: 'DELETE',
    path: PATH,
    access: 'key',
    scope: 'export:read',
    documentation: {
      summary: 'Ends the mails to the caller',
      description:
        'Where there are none, nothing is changed. What was found and not yet mailed is not mailed any more.',
      answer: { shape: StoppedMailAlertsAnswerShape, example: MAIL_ALERTS_EXAMPLE.stopped },
      problems: [],
    },
    async answer(_call, caller) {
      const recipient = await mailAlerts.recipientOf(caller);
      await requireReader(people, caller, recipient, null);
      await mailAlerts.delete(caller, recipient);
      return { body: { success: true } };
    },
  };
}

/**
 * Mails tell of the whole account. Only who governs it turns those of its owner on and off, and those of a person only
 * a key of theirs that reaches as far as they do: a thief of a lesser key silences nobody. Throws `Problem` 403,
 * `AccountError` `beyond-maker`.
 */
async function requireReader(
  people: Pick<People, 'requireWithin'>,
  { account, key }: Caller,
  recipient: MailReader,
  request: MailAlertsRequest | null,
): Promise<void> {
  const isAdmin = key.scopes.includes('keys:admin');
  if (recipient !== OWNER) await people.requireWithin(account.id, { key: key.id }, recipient);
  else if (!isAdmin) {
    throw new Problem('scope-forbidden', 'Only a key with keys:admin turns the mails of the owner on and off.');
  }
  requireWholeAccount({ key }, 'Mails tell of the whole account');
  if (request === null) return;
  if (request.events.includes('key.expiring') && !isAdmin) {
    throw new Problem('scope-forbidden', 'Of keys that end only a key with keys:admin is told.');
  }
}

async function set(mailAlerts: MailAlerts, caller: Caller, recipient: MailReader, request: MailAlertsRequest) {
  try {
    return await mailAlerts.set(caller, recipient, request);
  } catch (error) {
    if (error instanceof AlertRefusal && error.code === 'no-mail-address') throw new Problem(error.code, error.message);
    throw error;
  }
}
