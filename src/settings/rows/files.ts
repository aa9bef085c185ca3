import { boolean, integer } from '../kinds.ts';
import { setting } from '../setting.ts';

export const fileSettings = [
  setting({
    key: 'files.enabled',
    env: 'SERVICE_FILES_ENABLED',
    type: boolean(),
    default: true,
    doc: 'serve the routes of files; without them, files stay in the messages that they were sent in',
  }),
  setting({
    key: 'files.max_bytes',
    env: 'SERVICE_FILES_MAX_BYTES',
    type: integer({ min: 1 }),
    default: 67_108_864,
    doc: 'largest uploaded file',
  }),
  setting({
    key: 'files.max_total_bytes',
    env: 'SERVICE_FILES_MAX_TOTAL_BYTES',
    type: integer(),
    default: 0,
    doc: 'largest sum of the files of a scope; 0: no limit',
  }),
  setting({
    key: 'files.inline_max_bytes',
    env: 'SERVICE_FILES_INLINE_MAX_BYTES',
    type: integer(),
    default: 16_384,
    doc: 'largest file that is stored in its message; larger ones are stored as files of the thread',
  }),
  setting({
    key: 'files.default_ttl_secs',
    env: 'SERVICE_FILES_DEFAULT_TTL_SECS',
    type: integer(),
    default: 0,
    doc: 'time after which a file expires that was uploaded without `expires_after`; 0: never',
  }),
  setting({
    key: 'files.link_ttl_secs',
    env: 'SERVICE_FILES_LINK_TTL_SECS',
    type: integer({ min: 1 }),
    default: 3600,
    doc: 'time for which a link to the content of a file is valid',
  }),
  setting({
    key: 'files.grace_secs',
    env: 'SERVICE_FILES_GRACE_SECS',
    type: integer(),
    default: 600,
    doc: 'time for which the bytes of a deleted file stay on the disk',
  }),
  setting({
    key: 'files.max_uploads',
    env: 'SERVICE_FILES_MAX_UPLOADS',
    type: integer({ min: 1 }),
    default: 64,
    doc: 'uploads in progress; more get 503',
  }),
  setting({
    key: 'files.max_uploads_per_user',
    env: 'SERVICE_FILES_MAX_UPLOADS_PER_USER',
    type: integer({ min: 1 }),
    default: 16,
    doc: 'uploads of one user in progress; more get 429',
  }),
  setting({
    key: 'files.upload_timeout_secs',
    env: 'SERVICE_FILES_UPLOAD_TIMEOUT_SECS',
    type: integer({ min: 1, max: 86_400 }),
    default: 900,
    doc: 'time within which an upload has to end; later, it gets 408 and its connection is closed',
  }),
] as const;
