/** The parsed value, or the reason why the text is not valid JSON. */
export const parseJson = (text: string): { value: unknown } | { reason: string } => {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) };
  }
};
