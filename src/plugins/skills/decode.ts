/** UTF-8 text of bytes that may have been cut: the half of a character at a cut is dropped, not shown as `�`. */
export const decodeText = (bytes: Uint8Array, { cut }: { cut: boolean }): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: cut });
