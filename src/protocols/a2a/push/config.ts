import { z } from 'zod';
import { checkHost } from '../../../outbound/guarded-request.ts';
import { isObject } from '../../../schema/endpoint.ts';
import { newIdProblem } from '../../../schema/id.ts';
import { invalidRequest, type Violation } from '../errors.ts';
import { findSelector } from '../selector.ts';
import type { PostGuard } from './post.ts';

/** The target of the status notifications of a task (a2a.md 11.1) in its public form: validated and with an id. */
export const PushConfig = z
  .object({
    id: z.string(),
    taskId: z.string(),
    tenant: z.string().optional(),
    url: z.string(),
    token: z.string().optional(),
    authentication: z.object({ scheme: z.string(), credentials: z.string().optional() }).optional(),
    last_error: z.literal('forbidden').optional().meta({
      description: 'the user that made the config has lost the rights to it; its events are dropped',
    }),
  })
  .meta({ id: 'A2aPushNotificationConfig', description: 'A push notification configuration.' });
export type PushConfig = z.infer<typeof PushConfig>;

export const PushConfigList = z.object({ configs: z.array(PushConfig), nextPageToken: z.string() }).meta({
  id: 'A2aPushNotificationConfigList',
  description: 'One page of push notification configurations.',
});

/** The task and tenant of a config. */
export type Enclosing = { task_id: string; tenant: string | undefined };

/** Blank means absent. */
const blankAbsent = (text: string | null | undefined): string | undefined => text?.trim() || undefined;

const Name = z.string().nullish().transform(blankAbsent);

/** Any other value would fail each delivery. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const HeaderValue = z.string().regex(HEADER_VALUE, 'has characters that a header cannot carry');

const NO_SCHEME = 'authentication scheme must not be empty';
const NO_URL = 'push notification URL must be an absolute URL';

/** The config in the form that a client sends. */
export const PushConfigInput = z
  .object({
    id: Name.superRefine((id, context) => {
      const problem = id === undefined ? undefined : newIdProblem('push config', id);
      if (problem !== undefined) context.addIssue(`id ${problem}`);
    }),
    taskId: Name,
    tenant: Name,
    url: z
      .string({ error: NO_URL })
      .trim()
      .refine(URL.canParse, { error: NO_URL, abort: true })
      .refine(
        (url) => /^https?:$/.test(new URL(url).protocol),
        'push notification URL must use http or https',
      ),
    token: HeaderValue.nullish().transform(blankAbsent),
    authentication: z
      .object({
        scheme: HeaderValue.trim().min(1, NO_SCHEME),
        credentials: HeaderValue.nullish().transform(blankAbsent),
      })
      .nullish(),
  })
  .meta({ id: 'A2aPushNotificationConfigInput', description: 'A push notification configuration.' });

const FIELD = 'pushNotificationConfig';

/** @throws A2aError 400 with all violations */
export const checkPushConfig = (
  config: unknown,
  enclosing: Enclosing,
  { newId, guard }: { newId: () => string; guard?: PostGuard | undefined },
): PushConfig => {
  const { data, error } = PushConfigInput.safeParse(config);
  const violations = [
    ...(error ? error.issues.map(violationOf) : []),
    ...mismatches(config, enclosing),
    ...(data && guard ? refusedHost(data.url, guard) : []),
  ];
  if (!data || violations.length > 0) throw invalidRequest(violations);
  const { id, url, token, authentication } = data;
  return {
    id: id ?? newId(),
    taskId: enclosing.task_id,
    ...(enclosing.tenant !== undefined && { tenant: enclosing.tenant }),
    url,
    ...(token !== undefined && { token }),
    ...(authentication && { authentication: withoutUndefined(authentication) }),
  };
};

/** Checks the host without a DNS lookup, whose result may differ at the time of delivery. */
const refusedHost = (url: string, guard: PostGuard): Violation[] => {
  try {
    checkHost(new URL(url).hostname, guard);
    return [];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [
      { field: `${FIELD}.url`, description: `push notification URL must lead to a public host: ${why}` },
    ];
  }
};

const withoutUndefined = ({ scheme, credentials }: { scheme: string; credentials: string | undefined }) => ({
  scheme,
  ...(credentials !== undefined && { credentials }),
});

const violationOf = ({ path, message }: z.core.$ZodIssue): Violation => ({
  field: [FIELD, ...path].join('.'),
  description: message,
});

/** Checked even if other checks fail, so that all problems are reported at once. */
const mismatches = (config: unknown, { task_id, tenant }: Enclosing): Violation[] => {
  const taskId =
    isObject(config) && typeof config.taskId === 'string' ? blankAbsent(config.taskId) : undefined;
  const selector = findSelector(config);
  return [
    ...(taskId !== undefined && taskId !== task_id
      ? [
          {
            field: `${FIELD}.taskId`,
            description: 'push notification taskId must match the enclosing task',
          },
        ]
      : []),
    ...(selector !== undefined && selector !== tenant
      ? [
          {
            field: `${FIELD}.tenant`,
            description: 'push notification tenant must match the enclosing task tenant',
          },
        ]
      : []),
  ];
};
