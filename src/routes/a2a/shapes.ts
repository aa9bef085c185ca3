import { z } from 'zod';
import { listOf } from '../../schema/list.ts';

/** What the OpenAPI document says of the bodies of A2A. They are decoded in `src/protocols/a2a`. */

export const ErrorEnvelope = z
  .object({
    error: z.object({
      code: z.int(),
      status: z.string(),
      message: z.string(),
      details: z.array(z.looseObject({ '@type': z.string() })).optional(),
    }),
  })
  .meta({ id: 'A2aError' });

export const SendMessage = z
  .looseObject({
    message: z.looseObject({
      messageId: z.string(),
      role: z.literal('ROLE_USER'),
      parts: listOf(z.looseObject({})),
      taskId: z.string().optional(),
      contextId: z.string().optional(),
    }),
    configuration: z.looseObject({}).optional(),
  })
  .meta({ id: 'A2aSendMessageRequest' });

export const PushConfig = z
  .object({
    id: z.string().optional(),
    taskId: z.string().optional(),
    tenant: z.string().optional(),
    url: z.string(),
    token: z.string().optional(),
    authentication: z.object({ scheme: z.string(), credentials: z.string().optional() }).optional(),
  })
  .meta({ id: 'A2aPushNotificationConfig' });

export const PushConfigList = z
  .object({ configs: z.array(PushConfig), nextPageToken: z.string() })
  .meta({ id: 'A2aPushNotificationConfigList' });
