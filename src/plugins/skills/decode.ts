/**
 * Decodes UTF-8 text of possibly truncated bytes: an incomplete character at the end is dropped, not rendered as `�`.
 */
export const decodeText = (bytes: Uint8Array, { cut }: { cut: boolean }): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: cut });
