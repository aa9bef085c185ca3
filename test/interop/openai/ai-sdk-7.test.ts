import * as ai from 'ai-7';
import { createOpenAI } from 'ai-sdk-openai-4';
import t from 'tap';
import { testAiSdk } from './on-ai-sdk.ts';

/** Version 7 of the AI SDK. Its types differ from those of version 6; the tests use only functions of both. */

await testAiSdk(t, { createOpenAI, ai } as unknown as Parameters<typeof testAiSdk>[1]);
