import type { ScreenName } from '../../pages/console-page.ts';

/** A form of the console, for one call of the API. */
export interface ConsoleForm {
  readonly name: string;
  readonly method: 'DELETE' | 'POST' | 'PUT';
  /** Path of the API, as its route has it; its parameters are asked for by their names. */
  readonly path: string;
  readonly title: string;
  readonly about: string | null;
  /** What cannot be taken back. */
  readonly danger: string | null;
  readonly submit: string;
  /** Members of the request that are asked for, in this order. */
  readonly fields: readonly string[];
  /** Where it belongs. */
  readonly screen: ScreenName;
}

const PERMANENT = 'A record stays for good: it is signed and goes to the ledger, and nothing takes it back.';

function record(
  name: string,
  screen: ScreenName,
  title: string,
  fields: readonly string[],
  about: string | null = null,
  path = `/v1/${name}`,
): ConsoleForm {
  return { name, method: 'POST', path, title, about, danger: PERMANENT, submit: 'Record it', fields, screen };
}

/** A form that makes no record for good. */
function change(
  [name, screen]: readonly [name: string, screen: ScreenName],
  method: ConsoleForm['method'],
  path: `/v1/${string}`,
  title: string,
  submit: string,
  { about = null, danger = null, fields = [] }: Partial<Pick<ConsoleForm, 'about' | 'danger' | 'fields'>> = {},
): ConsoleForm {
  return { name, method, path, title, about, danger, submit, fields, screen };
}

const AFTER = ['systemRef', 'supersedes', 'relatedAttestationIds'];

/** What people write in the console: each by the call that anybody else would make. */
export const FORMS: readonly ConsoleForm[] = [
  record(
    'session-start',
    'sessions',
    'Begin a session of use',
    ['sourceId', 'purpose', 'environment', 'operatorId'],
    null,
    '/v1/session/start',
  ),
  record(
    'session-end',
    'sessions',
    'End a session of use',
    ['sessionId', 'sourceId', 'outcome', 'decisionCount'],
    null,
    '/v1/session/end',
  ),
  change(['oversight-policy', 'oversight'], 'POST', '/v1/oversight-policies', 'Choose what is looked at', 'Choose it', {
    about: 'Decisions of production for which all of `when` holds wait for a person from now on.',
    fields: ['name', 'when', 'persons'],
  }),
  change(['oversight-policy-delete', 'oversight'], 'DELETE', '/v1/oversight-policies/:id', 'End a policy', 'End it', {
    about: 'What waits by it alone waits no more.',
  }),
  record('human-override', 'oversight', 'Record a review by a person', [
    'sourceId',
    'originalAttestationId',
    'reviewerId',
    'reviewOutcome',
    'overrideDecision',
    'overrideReason',
    'reviewedAt',
  ]),
  record(
    'incident',
    'incidents',
    'Report an incident',
    [
      'sourceId',
      'severity',
      'description',
      'incidentPeriodStart',
      'incidentPeriodEnd',
      'awarenessAt',
      'detectedAt',
      'reportedBy',
      'role',
      'criteria',
      'memberStates',
      'reportability',
      'rationale',
      'systemRef',
      'modelId',
      'modelVersion',
      'relatedAttestationIds',
      'supersedes',
    ],
    'It starts the clocks of notification. A correction is a new report that names the one it corrects.',
  ),
  record('notification', 'incidents', 'Record that somebody was told', [
    'sourceId',
    'incidentId',
    'to',
    'reportType',
    'sentAt',
    'receivedAt',
    'regime',
    'authority',
    'memberState',
    'reference',
    'content',
    ...AFTER,
  ]),
  record(
    'corrective-action',
    'incidents',
    'Record a corrective action',
    [
      'sourceId',
      'nonconformityDescription',
      'incidentId',
      'rootCause',
      'correctiveActions',
      'implementedBy',
      'status',
      'measure',
      'dueAt',
      'effectivenessEvidence',
      'correctiveActionId',
    ],
    'A further state of an action is a revision of it: name its id.',
  ),
  record('risk-assessment', 'assessments', 'Record a risk assessment', [
    'sourceId',
    'risksIdentified',
    'mitigations',
    'residualRisk',
    'assessedBy',
    'assessmentDate',
    'reviewDueAt',
    'foreseeableMisuse',
    'minorsConsidered',
    'systemRef',
    'supersedes',
  ]),
  record('impact-assessment', 'assessments', 'Record an impact assessment', [
    'sourceId',
    'intendedPurpose',
    'affectedStakeholders',
    'potentialHarms',
    'overallRating',
    'assessedBy',
    'processes',
    'usePeriod',
    'affectedGroups',
    'specificRisks',
    'oversightMeasures',
    'riskMeasures',
    'firstUseAt',
    'dpiaRef',
    'systemRef',
    'supersedes',
  ]),
  record(
    'retention-lock',
    'retention',
    'Lock records, or hold them',
    ['sourceId', 'scope', 'retentionPeriodDays', 'startsAt', 'regulatoryBasis', 'legalHold', 'lockedBy'],
    'A lock ends by itself; a legal hold is released by a second person.',
  ),
  record(
    'hold-release',
    'retention',
    'Release a legal hold',
    ['lockId', 'releasedBy', 'reason'],
    'Another person than the one who placed it, with another key. Who signs in by mail is one person, by every key of theirs.',
    '/v1/retention-lock/release',
  ),
  {
    ...record(
      'erasure',
      'retention',
      'Erase contents',
      ['attestationIds', 'subjectRef', 'legalBasis', 'requestedBy'],
      'Name records, or one person’s reference: not both. What a lock or a hold keeps is refused, and named.',
      '/v1/erasures',
    ),
    danger: 'What is erased can never be read again, by anybody. That it was recorded, and its proof, stay.',
    submit: 'Erase it for good',
  },
  record('system', 'systems', 'Register a system, or record a revision', [
    'systemRef',
    'role',
    'intendedPurpose',
    'description',
    'riskClass',
    'annexPoint',
    'modelType',
    'systemStatus',
    'owner',
    'provider',
    'placedOnMarketAt',
    'putIntoServiceAt',
    'substantiallyModifiedAt',
    'reviewDueAt',
    'euDatabaseId',
    'sources',
    'sourceId',
    'supersedes',
  ]),
  record('document', 'systems', 'Record a document', [
    'sourceId',
    'docType',
    'docVersion',
    'sha256',
    'title',
    'annexPoint',
    'approvedBy',
    'approvedAt',
    'validFrom',
    'validUntil',
    'reviewDueAt',
    ...AFTER,
  ]),
  record('notice', 'systems', 'Record a notice to a person', [
    'sourceId',
    'noticeType',
    'givenAt',
    'decisionId',
    'subjectRef',
    'regime',
    'channel',
    'content',
    'dueAt',
    ...AFTER,
  ]),
  record('request', 'systems', 'Record a request of a person', [
    'sourceId',
    'requestType',
    'subjectRef',
    'receivedAt',
    'decisionId',
    'regime',
    'dueAt',
    'outcome',
    'closedAt',
    'content',
    'response',
    ...AFTER,
  ]),
  record('evaluation', 'assessments', 'Record an evaluation', [
    'sourceId',
    'evalType',
    'performedAt',
    'outcome',
    'metrics',
    'datasetRef',
    'modelId',
    'modelVersion',
    'performedBy',
    'independent',
    'validUntil',
    'findings',
    'limitations',
    'decisionId',
    ...AFTER,
  ]),
  record('assignment', 'oversight', 'Record who oversees', [
    'sourceId',
    'person',
    'capacity',
    'from',
    'to',
    'competence',
    'trainedAt',
    'mayStop',
    'systems',
    ...AFTER,
  ]),
  record('dataset', 'assessments', 'Record a data set', [
    'sourceId',
    'datasetRef',
    'version',
    'use',
    'sha256',
    'origin',
    'gaps',
    'legalBasis',
    'biasExamined',
    'specialCategories',
    ...AFTER,
  ]),
  record('supplier', 'systems', 'Record a supplier', [
    'sourceId',
    'supplier',
    'component',
    'version',
    'contractRef',
    'evidenceRef',
    'reviewedAt',
    'nextReviewAt',
    ...AFTER,
  ]),
  record('conformity', 'assessments', 'Record a conformity assessment', [
    'sourceId',
    'procedure',
    'outcome',
    'notifiedBody',
    'certificate',
    'declaration',
    'sha256',
    'validFrom',
    'validUntil',
    ...AFTER,
  ]),
  change(['evidence-pack', 'packs'], 'POST', '/v1/evidence-packs', 'Ask for a pack of evidence', 'Ask for it', {
    about: 'The same question gives the same pack. Name sources or systems, not both.',
    fields: ['sources', 'systems', 'from', 'to', 'asOf', 'frameworks', 'kinds', 'disclosure'],
  }),
  change(['pack-delete', 'packs'], 'DELETE', '/v1/evidence-packs/:id', 'Delete a pack', 'Delete it', {
    about: 'Its records stay; the same question makes it again.',
  }),
  {
    ...record(
      'agent',
      'agents',
      'Register an agent',
      ['agentId', 'displayName', 'jurisdiction', 'permittedUses', 'metadata', 'publicKey', 'proofOfPossession'],
      'Without a key of its own the node keeps one for it.',
      '/v1/agents/register',
    ),
    submit: 'Register it',
  },
  record(
    'agent-rotate',
    'agents',
    'Change the key of an agent',
    ['publicKey', 'proofOfPossession', 'previousKeySignature', 'reason'],
    null,
    '/v1/agents/:agentId/rotate',
  ),
  {
    ...record('agent-deactivate', 'agents', 'Deactivate an agent', ['reason'], null, '/v1/agents/:agentId/deactivate'),
    danger: 'An agent that is deactivated never speaks again.',
    submit: 'Deactivate it',
  },
  change(['key', 'keys'], 'POST', '/v1/keys', 'Make an API key', 'Make it', {
    about:
      'Its text is shown once. Choose a preset: no key may do more, or for longer, than the one that you are signed in ' +
      'with. Where you signed in by mail it is yours, and ends where you are removed.',
    fields: ['name', 'preset', 'sources', 'addresses', 'expiresAt', 'from', 'to'],
  }),
  change(['key-rotate', 'keys'], 'POST', '/v1/keys/:id/rotate', 'Rotate an API key', 'Rotate it', {
    about: 'A new key of the same terms takes its place; the old one goes on for the overlap, in seconds.',
    fields: ['overlapSeconds'],
  }),
  change(['key-revoke', 'keys'], 'POST', '/v1/keys/:id/revoke', 'Revoke an API key', 'Revoke it', {
    danger: 'It ends now and for good, and with it all who are signed in by it, and the links that it made.',
  }),
  change(['webhook', 'webhooks'], 'POST', '/v1/webhooks', 'Make a webhook', 'Make it', {
    about: 'Its secret is shown once: the receiver checks each delivery with it.',
    fields: ['url', 'events'],
  }),
  change(
    ['webhook-rotate', 'webhooks'],
    'POST',
    '/v1/webhooks/:id/rotate',
    'Rotate the secret of a webhook',
    'Rotate it',
    {
      about: 'The new one is shown once; for 24 hours both sign each delivery.',
    },
  ),
  change(['webhook-delete', 'webhooks'], 'DELETE', '/v1/webhooks/:id', 'Delete a webhook', 'Delete it', {
    danger: 'All that was and is to be delivered to it goes with it.',
  }),
  change(
    ['delivery-replay', 'webhooks'],
    'POST',
    '/v1/webhooks/:id/deliveries/:deliveryId/replay',
    'Send a delivery again',
    'Send it',
    { about: 'The same body under the same id.' },
  ),
  change(['mail-alerts', 'webhooks'], 'PUT', '/v1/mail-alerts', 'Be told by mail', 'Set it', {
    about: 'In a mail an hour or a day, to the address that you sign in with, where something was found.',
    fields: ['events', 'every'],
  }),
  change(['mail-alerts-end', 'webhooks'], 'DELETE', '/v1/mail-alerts', 'End the mails to you', 'End them'),
  change(
    ['calendar', 'webhooks'],
    'POST',
    '/v1/calendar',
    'Make an address for the calendar of what is due',
    'Make it',
    {
      about:
        'It is a secret, shown once, for programs that show calendars. It takes the place of the ' +
        'one that was made in this sign-in, or by this key.',
    },
  ),
  change(['calendar-delete', 'webhooks'], 'DELETE', '/v1/calendar', 'End the address of the calendar', 'End it'),
  change(['person', 'people'], 'POST', '/v1/people', 'Invite a person', 'Invite', {
    about: 'A mail says where to sign in. The role may do no more than the key that you are signed in with.',
    fields: ['email', 'role', 'expiresAt'],
  }),
  change(['person-remove', 'people'], 'DELETE', '/v1/people/:id', 'Remove a person', 'Remove', {
    danger: 'All that they are signed in by ends at once.',
  }),
  change(
    ['second-factor-remove', 'people'],
    'DELETE',
    '/v1/second-factors/:holder',
    'Take away second factors',
    'Take them away',
    { danger: 'Whoever reads their mail can sign in as them then.' },
  ),
  change(['sign-in-end', 'people'], 'DELETE', '/v1/sign-ins/:id', 'End a sign-in', 'End it', {
    about: 'Whoever is signed in so has to sign in again.',
  }),
];

/** Names of the parameters of a form's path. */
export function parametersOf({ path }: Pick<ConsoleForm, 'path'>): readonly string[] {
  return path.split('/').flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : []));
}
