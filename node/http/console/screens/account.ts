import type { JsonObject } from '../../../../protocol/json/value.ts';
import type { Cell, Section } from '../../../pages/console-page.ts';
import { cellsOf, itemsOf } from '../cells.ts';
import {
  columns,
  factsOf,
  filterOf,
  formLink,
  type Look,
  narrowed,
  type Screen,
  tableOf,
  textOf,
  withQuery,
} from '../screen.ts';

/** Agents that were registered here. */
export const agentsScreen: Screen = {
  path: '/agents',
  name: 'agents',
  show: (look) => ({
    title: 'Agents',
    sections: [
      agentsOf(look),
      { kind: 'links', title: 'Register one', links: [{ text: 'Register an agent', href: 'console/forms/agent' }] },
    ],
  }),
};

async function agentsOf(look: Look): Promise<Section> {
  const json = '/v1/attestations?kind=agent_registration';
  const listed = itemsOf(await look.ask(json), 'items');
  const records = await Promise.all(
    listed.map((item) => look.ask(`/v1/attestations/${encodeURIComponent(textOf(item, 'attestationId'))}`)),
  );
  const titles = { 'claims.agentId': 'Agent', submittedAt: 'Recorded', attestationId: 'Record' };
  return {
    kind: 'table',
    title: 'Registrations and changes of keys',
    json,
    member: 'items',
    columns: [...columns(titles), { field: 'ways', title: 'What you can do' }],
    rows: records.map((record) => {
      const agentId = textOf(record, 'claims.agentId');
      const ways: Cell = {
        kind: 'list',
        cells: [
          { kind: 'link', text: 'Its page', href: `agents/${encodeURIComponent(agentId)}` },
          formLink('Change its key', 'agent-rotate', { agentId }),
          formLink('Deactivate it', 'agent-deactivate', { agentId }),
        ],
      };
      return cellsOf(record, Object.keys(titles)).concat(ways);
    }),
    empty: {
      text: 'No agent is registered.',
      curl: `curl -X POST "$NODE/v1/agents/register" -H "x-api-key: $KEY" -H "content-type: application/json" \\
  -d '{"agentId":"triage","displayName":"Triage","jurisdiction":"EU","permittedUses":["sort claims"]}'`,
    },
    next: null,
  };
}

/** API keys. */
export const keysScreen: Screen = {
  path: '/keys',
  name: 'keys',
  show: (look) => ({
    title: 'Keys',
    sections: [
      tableOf(look, {
        title: 'Keys',
        path: '/v1/keys',
        member: 'keys',
        here: 'console/keys',
        columns: columns({
          id: 'Key',
          name: 'Name',
          status: 'State',
          preset: 'Preset',
          scopes: 'May',
          sources: 'Sources',
          addresses: 'Addresses',
          createdAt: 'Made',
          expiresAt: 'Ends',
          lastUsedDay: 'Last used',
        }),
        ways: (item) =>
          item.status === 'active'
            ? {
                kind: 'list',
                cells: [
                  formLink('Rotate', 'key-rotate', { id: textOf(item, 'id') }),
                  formLink('Revoke', 'key-revoke', { id: textOf(item, 'id') }),
                ],
              }
            : { kind: 'none' },
        empty: { text: 'The account has no key.', curl: null },
      }),
      { kind: 'links', title: 'Make one', links: [{ text: 'A new key', href: 'console/forms/key' }] },
    ],
  }),
};

/** Where the account wants to be told of what. */
export const webhooksScreen: Screen = {
  path: '/webhooks',
  name: 'webhooks',
  show: (look) => ({
    title: 'Webhooks',
    sections: [
      tableOf(look, {
        title: 'Webhooks',
        path: '/v1/webhooks',
        member: 'webhooks',
        here: 'console/webhooks',
        columns: columns({
          webhookId: 'Webhook',
          url: 'Leads to',
          events: 'Is told of',
          createdAt: 'Made',
          rotatesUntil: 'Both secrets sign until',
          disabledAt: 'Ended by its receiver',
        }),
        cells: {
          webhookId: (item) => {
            const text = textOf(item, 'webhookId');
            return { kind: 'code', text, href: `console/webhooks/${text}` };
          },
        },
        ways: (item) => {
          const given = { id: textOf(item, 'webhookId') };
          const ways = [
            formLink('Rotate its secret', 'webhook-rotate', given),
            formLink('Delete it', 'webhook-delete', given),
          ];
          return { kind: 'list', cells: ways };
        },
        empty: {
          text: 'Nobody is told of anything.',
          curl: `curl -X POST "$NODE/v1/webhooks" -H "x-api-key: $KEY" -H "content-type: application/json" \\
  -d '{"url":"https://hooks.example/","events":["incident.overdue"]}'`,
        },
      }),
      {
        kind: 'links',
        title: 'Make one',
        links: [
          { text: 'A new webhook', href: 'console/forms/webhook' },
          { text: 'Mails to you', href: 'console/forms/mail-alerts' },
          { text: 'No more mails to you', href: 'console/forms/mail-alerts-end' },
          { text: 'An address for the calendar of what is due', href: 'console/forms/calendar' },
          { text: 'End that address', href: 'console/forms/calendar-delete' },
        ],
      },
    ],
  }),
};

/** What was delivered to a webhook. */
export const webhookScreen: Screen = {
  path: '/webhooks/:id',
  name: 'webhooks',
  show(look) {
    const { id = '' } = look.params;
    return {
      title: `Webhook ${id}`,
      sections: [
        tableOf(look, {
          title: 'Deliveries',
          path: `/v1/webhooks/${encodeURIComponent(id)}/deliveries`,
          here: `console/webhooks/${encodeURIComponent(id)}`,
          columns: columns({
            deliveryId: 'Delivery',
            event: 'Event',
            state: 'State',
            createdAt: 'Found',
            attempts: 'Attempts',
            lastStatus: 'Last answer',
            lastError: 'Why there was none',
            nextAttemptAt: 'Next attempt',
            deliveredAt: 'Delivered',
          }),
          ways: (item) => formLink('Send it again', 'delivery-replay', { id, deliveryId: textOf(item, 'deliveryId') }),
          empty: { text: 'Nothing was to be told so far.', curl: null },
        }),
      ],
    };
  },
};

/** Who may sign in by mail, and who is signed in. */
export const peopleScreen: Screen = {
  path: '/people',
  name: 'people',
  show: (look) => ({
    title: 'People',
    sections: [
      tableOf(look, {
        title: 'People',
        about: 'They sign in by a link that is mailed to them, in a role that is a preset of keys.',
        path: '/v1/people',
        member: 'people',
        here: 'console/people',
        columns: columns({
          personId: 'Person',
          email: 'Mail address',
          role: 'Role',
          createdAt: 'Invited',
          expiresAt: 'Until',
          invitedBy: 'By',
        }),
        ways: (item) => formLink('Remove', 'person-remove', { id: textOf(item, 'personId') }),
        empty: {
          text: 'Nobody is invited.',
          curl: `curl -X POST "$NODE/v1/people" -H "x-api-key: $KEY" -H "content-type: application/json" \\
  -d '{"email":"auditor@example.org","role":"auditor"}'`,
        },
      }),
      tableOf(look, {
        title: 'Second factors',
        about: 'What is shown beside a mailed link. People add their own.',
        path: '/v1/second-factors',
        here: 'console/people',
        columns: columns({ holder: 'Person', factors: 'Second factors', recoveryCodesLeft: 'Recovery codes left' }),
        cells: { factors: (item) => ({ kind: 'text', text: itemsOf(item, 'factors').map(factorName).join(', ') }) },
        ways: (item) => formLink('Take away', 'second-factor-remove', { holder: textOf(item, 'holder') }),
        empty: { text: 'Nobody shows a second factor.', curl: null },
      }),
      tableOf(look, {
        title: 'Signed in',
        path: '/v1/sign-ins',
        member: 'signIns',
        here: 'console/people',
        columns: columns({
          signInId: 'Sign-in',
          by: 'By key',
          holder: 'By mail of',
          secondFactor: 'With',
          address: 'From',
          createdAt: 'Since',
          expiresAt: 'Until',
        }),
        ways: (item) => formLink('End it', 'sign-in-end', { id: textOf(item, 'signInId') }),
        empty: { text: 'Nobody is signed in.', curl: null },
      }),
      { kind: 'links', title: 'Invite', links: [{ text: 'Invite a person', href: 'console/forms/person' }] },
    ],
  }),
};

/** Who did what, when and from where: a chain of hashes. */
export const auditLogScreen: Screen = {
  path: '/audit-log',
  name: 'audit-log',
  show(look) {
    const filters = narrowed(look, ['from', 'to', 'order']);
    return {
      title: 'Audit log',
      sections: [
        filterOf(look, 'console/audit-log', {
          from: 'From (time or day)',
          to: 'Before (time or day)',
          order: ['Order', ['newest', 'oldest']],
        }),
        tableOf(look, {
          title: 'Entries',
          path: withQuery('/v1/audit-log', filters),
          member: 'entries',
          here: 'console/audit-log',
          columns: columns({
            seq: 'Place',
            at: 'When',
            by: 'By',
            action: 'What',
            status: 'Answered',
            subject: 'About',
            address: 'From',
            lost: 'Lost',
          }),
          empty: { text: 'No entry is of this period.', curl: null },
        }),
        {
          kind: 'links',
          title: 'Take it with you',
          links: [
            {
              text: 'As JSON lines, which anybody can check',
              href: withQuery('v1/audit-log/export', { ...narrowed(look, ['from', 'to']), format: 'jsonl' }),
            },
            {
              text: 'As CSV',
              href: withQuery('v1/audit-log/export', { ...narrowed(look, ['from', 'to']), format: 'csv' }),
            },
            { text: 'Check an export in your browser', href: 'check' },
          ],
        },
      ],
    };
  },
};

/** Where the account stands with its limits. */
export const usageScreen: Screen = {
  path: '/usage',
  name: 'usage',
  show: (look) => ({
    title: 'Usage',
    sections: [
      factsOf(look, 'Limits', '/v1/usage', {
        tier: 'Tier',
        countedBy: 'Counted by node',
        'minute.limit': 'Requests in a minute',
        'minute.remaining': 'Left of them',
        'day.records': 'Records today',
        'day.limit': 'Records a day',
        'day.remaining': 'Left of them',
        'day.resetsAt': 'The day ends',
        'month.records': 'Records this month',
        'month.quota.value': 'Records a month',
        'month.resetsAt': 'The month ends',
      }),
      tableOf(look, {
        title: 'Endpoints with a limit of their own',
        path: '/v1/usage',
        member: 'endpoints',
        here: 'console/usage',
        columns: columns({
          endpoint: 'Endpoint',
          limit: 'In a minute',
          remaining: 'Left',
          resetSeconds: 'Seconds to go',
        }),
        empty: { text: 'None has.', curl: null },
      }),
    ],
  }),
};

function factorName(factor: JsonObject): string {
  return `${textOf(factor, 'name')} (${textOf(factor, 'kind')})`;
}
