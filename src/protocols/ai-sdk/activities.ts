import { PROVIDER_CALL } from '../../schema/provider-tool.ts';
import type { RunEventOf } from '../../schema/run-event.ts';
import { frame } from './frames.ts';

/** Activities for which the protocol has a dedicated part are sent as that part too (chat-and-agui.md 4.2). */

type Snapshot = RunEventOf<'activity_snapshot'>;
type Content = { [key: string]: Snapshot['content'] };

const holdsBytes = (content: Snapshot['content']): boolean => {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return false;
  return 'data' in content || text(content, 'url')?.startsWith('data:') === true;
};

/** Returns whether the activity has a position in the response, so that later text starts another block. */
export const isPart = ({ activity_type }: Snapshot): boolean =>
  activity_type === 'file' || activity_type === 'data';

export const activitySnapshot = (event: Snapshot): string => {
  const { message_id: messageId, activity_type: activityType, content, replace = null } = event;
  const isObject = typeof content === 'object' && content !== null && !Array.isArray(content);
  const part = isObject && Object.hasOwn(PARTS, activityType) ? PARTS[activityType] : undefined;
  const own = part && isObject ? part(content, messageId) : '';
  const data = { messageId, activityType, content, replace };
  // A client stores parts and sends them back with every message, so it should not store the same bytes twice.
  const isRepeated = (own !== '' && isPart(event) && holdsBytes(content)) || activityType === PROVIDER_CALL;
  const transient = isRepeated ? true : undefined;
  return own + frame('data-activity-snapshot', { data, transient });
};

export const activityDelta = ({ message_id, activity_type, patch }: RunEventOf<'activity_delta'>): string =>
  frame('data-activity-delta', { data: { messageId: message_id, activityType: activity_type, patch } });

const text = (content: Content, key: string): string | undefined => {
  const value = content[key];
  return typeof value === 'string' ? value : undefined;
};

const mediaTypeOf = (content: Content): string => text(content, 'mediaType') ?? 'application/octet-stream';

const PARTS: Record<string, (content: Content, message_id: string) => string> = {
  'source-url': (content, message_id) =>
    frame('source-url', {
      sourceId: text(content, 'sourceId') ?? message_id,
      url: text(content, 'url') ?? '',
      title: text(content, 'title'),
    }),
  'source-document': (content, message_id) => {
    const sourceId = text(content, 'sourceId') ?? message_id;
    const filename = text(content, 'filename');
    const title = text(content, 'title') ?? filename ?? sourceId;
    return frame('source-document', { sourceId, mediaType: mediaTypeOf(content), title, filename });
  },
  data: (content, message_id) => frame('data-artifact', { id: message_id, data: content }),
  file: (content) => frame('file', { url: text(content, 'url') ?? '', mediaType: mediaTypeOf(content) }),
};
