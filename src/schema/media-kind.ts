const KINDS = ['image', 'audio', 'video'] as const;

/**
 * Returns the type of the block for a file, by the family of its media type. Pages and clients load this module without
 * schemas.
 */
export const kindOfMedia = (media_type: string): (typeof KINDS)[number] | 'document' => {
  const family = media_type.trim().toLowerCase();
  return KINDS.find((kind) => family.startsWith(`${kind}/`)) ?? 'document';
};
