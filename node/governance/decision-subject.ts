import type { Asserted } from '../../protocol/chain/asserted.ts';
import { AUTHORITY_NOTIFICATION } from '../../protocol/compliance/notification-clock.ts';
import { NOT_APPLICABLE_EVENT } from '../../protocol/frameworks/event-types.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import type { DecisionDraft } from '../verification/attestation/decision-drafts.ts';
import type { Caller } from '../accounts/caller.ts';
import type { AccountRecords } from './account-records.ts';
import type { Pseudonyms, Subjects } from './subjects.ts';

/** Characters of the name in `data.assertedBy` that a pseudonym is made of. */
const MAX_NAME_CHARACTERS = 256;

export interface DecisionSubjectServices {
  readonly records: Pick<AccountRecords, 'findIncident' | 'requireAll' | 'requireIncident'>;
  readonly subjects: Pick<Subjects, 'row'>;
  readonly pseudonyms: Pick<Pseudonyms, 'assertedSubject' | 'person'>;
}

/** What a decision says it is about. */
export interface DecisionSubject {
  readonly data: JsonObject;
  readonly incidentId?: string;
  readonly subjectRef?: string;
  readonly relatedAttestationIds?: readonly string[];
}

/** A draft, and what its caller should know of it. */
interface AddressedDraft {
  readonly draft: DecisionDraft;
  readonly warnings: readonly string[];
}

/**
 * The draft with its links to an incident and to related records, the pseudonyms of its persons, and the row by which
 * the one concerned is found. Of a decision that names none of them nothing is read. Throws `ComplianceError`.
 */
export async function addressed(
  services: DecisionSubjectServices,
  caller: Caller,
  request: DecisionSubject,
  draft: DecisionDraft,
): Promise<AddressedDraft> {
  const { subjectRef, relatedAttestationIds } = request;
  const { id: account } = caller.account;
  const named = withPersons(services, account, request, draft);
  const found =
    subjectRef === undefined
      ? named
      : {
          ...named,
          besides: (id: Parameters<NonNullable<DecisionDraft['besides']>>[0]) => [
            ...(named.besides?.(id) ?? []),
            services.subjects.row(account, subjectRef, id),
          ],
        };
  if (relatedAttestationIds === undefined || relatedAttestationIds.length === 0) {
    return linkedToIncident(services, caller, request, found);
  }
  const records = await services.records.requireAll(caller, relatedAttestationIds, 'relatedAttestationIds');
  const related = [...new Set(records.map(({ id }) => id))];
  return linkedToIncident(services, caller, request, { ...found, links: { ...found.links, related } });
}

/** The draft with the pseudonyms of whom it is about and, of an event `NOT_APPLICABLE`, of who asserts it. */
function withPersons(
  { pseudonyms }: DecisionSubjectServices,
  account: string,
  { subjectRef, data }: DecisionSubject,
  draft: DecisionDraft,
): DecisionDraft {
  const asserter = draft.claims.eventType === NOT_APPLICABLE_EVENT ? nameIn(data) : undefined;
  if (subjectRef === undefined && asserter === undefined) return draft;
  const asserted: Asserted = { ...draft.claims.asserted };
  if (subjectRef !== undefined) asserted.subject = pseudonyms.assertedSubject(account, subjectRef);
  if (asserter !== undefined) asserted.assertedBy = pseudonyms.person(account, asserter);
  return { ...draft, claims: { ...draft.claims, asserted } };
}

function nameIn({ assertedBy }: JsonObject): string | undefined {
  if (typeof assertedBy !== 'string' || assertedBy.trim() === '') return undefined;
  return assertedBy.length <= MAX_NAME_CHARACTERS ? assertedBy : undefined;
}

/**
 * What `data` says is the caller's own material: a notification that names no incident there is recorded all the same.
 */
async function linkedToIncident(
  { records }: DecisionSubjectServices,
  caller: Caller,
  { incidentId, data }: DecisionSubject,
  draft: DecisionDraft,
): Promise<AddressedDraft> {
  const linkedTo = (incident: DecisionDraft['links']['incident']): AddressedDraft => ({
    draft: { ...draft, links: { ...draft.links, incident } },
    warnings: [],
  });
  if (incidentId !== undefined) {
    return linkedTo((await records.requireIncident(caller, incidentId, 'incidentId')).id);
  }
  const named = draft.claims.eventType === AUTHORITY_NOTIFICATION ? data.incidentId : undefined;
  if (typeof named !== 'string') return { draft, warnings: [] };
  const incident = await records.findIncident(caller, named);
  if (incident !== undefined) return linkedTo(incident.id);
  return { draft, warnings: ['data.incidentId: there is no incident of this id; the notification is linked to none'] };
}
