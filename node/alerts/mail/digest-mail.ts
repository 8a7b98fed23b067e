import { hash } from 'node:crypto';
import { ALERT_EVENTS, type AlertEvent } from '../../../protocol/api/webhooks.ts';
import type { Mail } from '../../accounts/mail/mailer.ts';
import type { MailAlert, Notice } from './mail-alert-tables.ts';
import { NOTICE_TITLES } from './notice-lines.ts';

/** Of one event. Beyond them the mail says how many more there are. */
const MAX_LINES = 50;

/** A notice that waits, and what found it. */
export interface WaitingNotice {
  readonly event: AlertEvent;
  readonly subject: string;
  readonly notice: Notice;
}

export interface DigestTerms {
  readonly to: string;
  readonly alert: MailAlert;
  readonly notices: readonly WaitingNotice[];
  readonly nodeUrl: string;
  /** Where a click, or the reader's mail program (RFC 8058), stops these mails. */
  readonly stopUrl: string;
}

/**
 * The mail that gathers notices. The same notices make the same mail under the same Message-ID: what is sent twice,
 * because a node was killed in between, is seen to be the same.
 */
export function digestMail({ to, alert, notices, nodeUrl, stopUrl }: DigestTerms): Mail {
  const parts = Object.entries(NOTICE_TITLES).flatMap(([event, title]) => {
    const own = notices.filter((one) => one.event === event);
    return own.length === 0 ? [] : [`${title}\n${linesOf(own).join('\n')}`];
  });
  const count = notices.reduce((sum, { notice }) => sum + notice.count, 0);
  const text = `What was found at the account
${alert.account} on
${nodeUrl}

${parts.join('\n\n')}

The console shows what each of it is:
${nodeUrl}/console

To get no more of these mails:
${stopUrl}
`;
  const id = hash('sha256', `${to}\0${text}`, 'hex').slice(0, 32);
  return {
    to,
    subject: `Meridian: ${count} ${count === 1 ? 'notice' : 'notices'} for your account`,
    text,
    messageId: `${id}@${new URL(nodeUrl).hostname}`,
    unsubscribe: stopUrl,
  };
}

function linesOf(notices: readonly WaitingNotice[]): readonly string[] {
  const lines = notices.flatMap(({ notice }) => notice.line ?? []);
  const counted = notices.reduce((sum, { notice }) => sum + (notice.line === null ? notice.count : 0), 0);
  const more = counted + Math.max(0, lines.length - MAX_LINES);
  const shown = lines.slice(0, MAX_LINES).map((line) => `  ${line}`);
  return more === 0 ? shown : [...shown, shown.length === 0 ? `  ${more}` : `  and ${more} more`];
}

export function isAlertEvent(text: string): text is AlertEvent {
  return ALERT_EVENTS.some((event) => event === text);
}
