import { image, resource, text } from './content.ts';

/** The prompts that the conformance suite reads, as it describes them. */

type Content = ReturnType<typeof text | typeof resource> | typeof image;

type FixturePrompt = {
  description: string;
  /** Arguments, all of them required. */
  takes: string[];
  says(given: Record<string, string>): Content[];
};

export const PROMPTS: Record<string, FixturePrompt> = {
  test_simple_prompt: {
    description: 'No arguments',
    takes: [],
    says: () => [text('This is a simple prompt for testing.')],
  },
  test_prompt_with_arguments: {
    description: 'Two arguments',
    takes: ['arg1', 'arg2'],
    says: ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  test_prompt_with_embedded_resource: {
    description: 'A resource',
    takes: ['resourceUri'],
    says: ({ resourceUri = '' }) => [
      resource(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
      text('Please process the embedded resource above.'),
    ],
  },
  test_prompt_with_image: {
    description: 'An image',
    takes: [],
    says: () => [image, text('Please analyze the image above.')],
  },
};
