import { STOP_TOKEN_PATTERN } from '../../../protocol/api/mail-alerts.ts';
import type { MailAlerts } from '../../alerts/mail/mail-alerts.ts';
import type { Section } from '../../pages/console-page.ts';
import type { Answer, PageRoute } from '../route.ts';
import { consolePage, type ConsolePageServices, openRoute } from './console-page.ts';

const PATH = '/stop-mail/:token';
const TOKEN = new RegExp(STOP_TOKEN_PATTERN);

export interface MailStopServices extends ConsolePageServices {
  readonly mailAlerts: Pick<MailAlerts, 'stop'>;
}

/**
 * Stopping the mails of alerts by the address that is in each of them. To open it changes nothing, for programs that
 * look through mails open it too; POST stops them, by the button or by the reader's mail program, which has no cookie,
 * is signed in nowhere and sends `List-Unsubscribe=One-Click` (RFC 8058 §3.1).
 */
export function mailStopRoutes(services: MailStopServices): readonly PageRoute[] {
  return [
    openRoute('GET', PATH, ({ params }) => button(services, params.token)),
    openRoute('POST', PATH, ({ params }) => stop(services, params.token)),
  ];
}

function button(services: MailStopServices, token = ''): Promise<Answer> {
  const form: Section = {
    kind: 'form',
    title: 'Mails of alerts',
    about: 'You get no more mails of what is found at this account. Other people get theirs.',
    danger: null,
    method: 'post',
    action: `stop-mail/${encodeURIComponent(token)}`,
    hidden: [['List-Unsubscribe', 'One-Click']],
    fields: [],
    isDrafted: false,
    submit: 'Stop these mails',
  };
  return consolePage(services, PATH, null, { title: 'Stop these mails', screen: null, sections: [form] });
}

/** The same words whether there were any: the address is in every mail, also in those that were stopped before. */
async function stop(services: MailStopServices, token = ''): Promise<Answer> {
  if (TOKEN.test(token)) await services.mailAlerts.stop(token);
  const paragraphs = ['● No more mails come by this address. In the console they can be asked for again.'];
  const sections: readonly Section[] = [{ kind: 'text', title: null, tone: 'good', paragraphs, copy: null }];
  return consolePage(services, PATH, null, { title: 'Mails are stopped', screen: null, sections });
}
