import t from 'tap';
import { OPENAI_CHAT } from '../../../src/models/chat-options.ts';
import type { InferenceRequest } from '../../../src/models/model.ts';
import { anthropicWire } from '../../../src/models/wire/anthropic.ts';
import { geminiWire } from '../../../src/models/wire/gemini.ts';
import { openaiChatWire } from '../../../src/models/wire/openai-chat.ts';
import { openaiResponsesWire } from '../../../src/models/wire/openai-responses.ts';
import { listOf, objectOf } from '../../../src/models/wire/read.ts';
import type { Wire, WireRequest } from '../../../src/models/wire/wire.ts';
import type { ContentBlock, Message } from '../../../src/schema/message.ts';
import { fileOf, image, imageAt, PNG, PNG_IN_WORDS, pngOf } from '../images.ts';
import { requestOf, userMessage } from '../infer.ts';
import { callOf } from './decode.ts';
import { refusalsOf } from './strict-anthropic.ts';
import { refusalOfGemini } from './strict-gemini.ts';
import { problemsOfChat } from './strict-openai-chat.ts';
import { rejectionOf } from './strict-openai-responses.ts';

/** Files of users and of results in each format, checked by the strictest services. */

type Format = {
  name: string;
  wire: Wire;
  upstream: string;
  /** The reason for which a service rejects the request. */
  refusal(sent: WireRequest): unknown;
  /** An image of a user. */
  image: unknown;
  linked: unknown;
  /** The messages after the one with the call. */
  result: unknown[];
};

const URL = 'https://a.example/b.png';
const DATA_URL = `data:image/png;base64,${PNG}`;
const BEHIND = 'Files of the results above:';

const inline = { inlineData: { mimeType: 'image/png', data: PNG } };
const geminiResponse = (more: object) => ({
  functionResponse: {
    id: 'c1',
    name: 'shot',
    response: { name: 'shot', content: `taken\n${PNG_IN_WORDS}` },
    ...more,
  },
});

const anthropicImage = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: PNG },
};

const FORMATS: Format[] = [
  {
    name: 'openai-chat',
    wire: openaiChatWire(OPENAI_CHAT),
    upstream: 'gpt-4o',
    refusal: ({ body }) => problemsOfChat(body)[0],
    image: { type: 'image_url', image_url: { url: DATA_URL } },
    linked: { type: 'image_url', image_url: { url: URL } },
    result: [
      { role: 'tool', tool_call_id: 'c1', content: `taken\n${PNG_IN_WORDS}` },
      {
        role: 'user',
        content: [
          { type: 'text', text: BEHIND },
          { type: 'image_url', image_url: { url: DATA_URL } },
        ],
      },
    ],
  },
  {
    name: 'openai-responses',
    wire: openaiResponsesWire(),
    upstream: 'gpt-5',
    refusal: ({ body }) => rejectionOf(body),
    image: { type: 'input_image', image_url: DATA_URL },
    linked: { type: 'input_image', image_url: URL },
    result: [
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [
          { type: 'input_text', text: 'taken' },
          { type: 'input_image', image_url: DATA_URL },
        ],
      },
    ],
  },
  {
    name: 'anthropic',
    wire: anthropicWire(),
    upstream: 'claude-sonnet-4-6',
    refusal: (sent) => refusalsOf(sent)[0],
    image: anthropicImage,
    linked: { type: 'image', source: { type: 'url', url: URL } },
    result: [
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c1',
            content: [{ type: 'text', text: 'taken' }, anthropicImage],
          },
        ],
      },
    ],
  },
  {
    name: 'gemini 3',
    wire: geminiWire({ platform: 'gemini' }),
    upstream: 'gemini-3-pro',
    refusal: (sent) => refusalOfGemini(sent, 'gemini'),
    image: inline,
    linked: { fileData: { mimeType: 'image/jpeg', fileUri: URL } },
    result: [{ role: 'user', parts: [geminiResponse({ parts: [inline] })] }],
  },
  {
    name: 'gemini 2.5',
    wire: geminiWire({ platform: 'gemini' }),
    upstream: 'gemini-2.5-pro',
    refusal: (sent) => refusalOfGemini(sent, 'gemini'),
    image: inline,
    linked: { fileData: { mimeType: 'image/jpeg', fileUri: URL } },
    result: [
      { role: 'user', parts: [geminiResponse({})] },
      { role: 'user', parts: [{ text: BEHIND }, inline] },
    ],
  },
];

const sent = (
  { wire, upstream, refusal }: Format,
  request: Partial<InferenceRequest>,
): readonly unknown[] => {
  const encoded = wire.encode(callOf({ upstream, request: requestOf('', request) }));
  const why = refusal(encoded);
  if (why !== undefined) throw new Error(`${why}: ${JSON.stringify(encoded.body).slice(0, 2000)}`);
  const { messages, input, contents } = encoded.body;
  return listOf(messages ?? input ?? contents);
};

const user = (...content: ContentBlock[]): Message => ({ id: 'u', role: 'user', content });

const contentOf = (message: unknown): readonly unknown[] => {
  const { content, parts } = objectOf(message) ?? {};
  return listOf(content ?? parts);
};

const called = (...results: [id: string, content: ContentBlock[]][]): Message[] => [
  userMessage('look'),
  {
    id: 'a',
    role: 'assistant',
    content: [],
    tool_calls: results.map(([id]) => ({ id, name: 'shot', arguments: {} })),
  },
  ...results.map(([id, content]): Message => ({ id: `r${id}`, role: 'tool', tool_call_id: id, content })),
];

const text = (said: string): ContentBlock => ({ type: 'text', text: said });
const SEES = ['text', 'image'] as const;
const accepts = [...SEES];

for (const format of FORMATS) {
  t.test(`${format.name}: sends an image of a user by its bytes and by its URL`, async (t) => {
    for (const known of [undefined, accepts]) {
      const request = {
        messages: [user(text('See:'), image(), imageAt(URL))],
        ...(known && { accepts: known }),
      };
      t.strictSame(contentOf(sent(format, request)[0]).slice(1), [format.image, format.linked]);
    }
  });

  t.test(`${format.name}: rejects an image that the model is known not to accept`, async (t) => {
    const request: Partial<InferenceRequest> = { messages: [user(image())], accepts: ['text', 'pdf'] };
    const error = {
      class: 'invalid_request',
      message: 'invalid request: this model does not take image input',
    };
    t.throws(() => sent(format, request), error);
  });

  t.test(`${format.name}: describes an image to which another model has responded`, async (t) => {
    const messages = [
      user(text('See:'), image()),
      { id: 'a', role: 'assistant' as const, content: [text('A cat.')] },
      userMessage('And now?'),
    ];
    const written = JSON.stringify(sent(format, { messages, accepts: ['text'] }));
    t.ok(written.includes(PNG_IN_WORDS), written);
    t.ok(written.length < 1000);
  });

  t.test(`${format.name}: sends an image that a tool returned as an image`, async (t) => {
    const messages = called(['c1', [text('taken'), image()]]);
    t.strictSame(sent(format, { messages, accepts }).slice(2), format.result);
  });

  t.test(
    `${format.name}: describes an image of a tool to a model that is not known to accept it`,
    async (t) => {
      for (const known of [undefined, ['text'] as const]) {
        const messages = called(['c1', [text('taken'), image()]]);
        const written = JSON.stringify(
          sent(format, { messages, ...(known && { accepts: [...known] }) }).slice(2),
        );
        t.ok(written.includes(`taken\\n${PNG_IN_WORDS}`), written);
        t.ok(written.length < 400);
      }
    },
  );

  t.test(`${format.name}: sends a result with only an image`, async (t) => {
    const written = JSON.stringify(sent(format, { messages: called(['c1', [image()]]), accepts }));
    t.equal(written.split(PNG).length, 2);
  });

  t.test(`${format.name}: sends images of parallel calls with their results`, async (t) => {
    const [one, two] = [pngOf(64), pngOf(65)];
    const messages = called(
      ['c1', [text('one'), image(one)]],
      ['c2', [image(two), text('two')]],
      ['c3', [text('3')]],
    );
    const written = JSON.stringify(sent(format, { messages, accepts }));
    t.ok(written.indexOf(one) > 0 && written.indexOf(two) > written.indexOf(one), written);
    const isBehind = written.includes(BEHIND);
    t.equal(written.includes('Result of shot (c1):') && written.includes('Result of shot (c2):'), isBehind);
  });

  t.test(`${format.name}: describes files of results that no model accepts`, async (t) => {
    const vector: ContentBlock = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/svg+xml', data: Buffer.from('<svg/>').toString('base64') },
    };
    const files = [vector, image(pngOf(4_000_000)), imageAt(URL), fileOf('document', 'application/zip')];
    const messages = called(['c1', files]);
    const written = JSON.stringify(
      sent(format, { messages, accepts: ['text', 'image', 'audio', 'video', 'pdf'] }),
    );
    for (const words of [
      '[image image/svg+xml, 6 bytes]',
      '[image image/png, 512x384, 3.8 MB]',
      `[image ${URL}, image/png]`,
      '[file application/zip, 3 bytes]',
    ])
      t.ok(written.includes(words), words);
    t.notOk(written.includes(pngOf(4_000_000)));
  });

  t.test(`${format.name}: sends the newest images of results, as many as fit`, async (t) => {
    const large = pngOf(3_000_000);
    const messages = [1, 2, 3, 4].flatMap((each) => called([`c${each}`, [image(large)]]));
    const written = JSON.stringify(sent(format, { messages, accepts }));
    t.equal(written.split(large).length, 3);
    t.ok(written.indexOf('[image image/png, 512x384, 2.9 MB]') < written.indexOf(large));
  });

  t.test(`${format.name}: normalizes the type of an image to the providers' spelling`, async (t) => {
    const source = { type: 'base64' as const, media_type: 'Image/JPG; q=1', data: 'AAAA' };
    const written = JSON.stringify(sent(format, { messages: [user({ type: 'image', source })] }));
    t.ok(written.includes('image/jpeg'), written);
  });

  t.test(`${format.name}: detects the type of an image from its bytes`, async (t) => {
    const mislabelled: ContentBlock = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/jpeg', data: PNG },
    };
    t.strictSame(contentOf(sent(format, { messages: [user(mislabelled)] })[0]), [format.image]);
  });
}

t.test('sends PDFs and texts within results if the format has a form for them', async (t) => {
  const pdf = fileOf('document', 'application/pdf');
  const csv = fileOf('document', 'text/csv', Buffer.from('a,b').toString('base64'));
  const messages = called(['c1', [text('made'), pdf, csv]]);
  const known = ['text' as const, 'pdf' as const];
  const [, responses, anthropic, gemini] = FORMATS.map((format) =>
    sent(format, { messages, accepts: known }).slice(2),
  );
  t.match(responses, [
    { output: [{ text: 'made' }, { type: 'input_file', filename: 'part-1.pdf' }, { text: 'a,b' }] },
  ]);
  t.match(anthropic, [
    {
      content: [
        {
          content: [
            { text: 'made' },
            { type: 'document', source: { media_type: 'application/pdf' } },
            { type: 'document', source: { type: 'text', data: 'a,b' } },
          ],
        },
      ],
    },
  ]);
  t.match(gemini, [
    { parts: [{ functionResponse: { parts: [{ inlineData: { mimeType: 'application/pdf' } }] } }] },
    { parts: [{ text: BEHIND }, { inlineData: { mimeType: 'text/csv' } }] },
  ]);
});

t.test('sends audio of a result after it, if the format has a form for it', async (t) => {
  const messages = called(['c1', [fileOf('audio', 'audio/wav')]]);
  const written = FORMATS.map((format) =>
    JSON.stringify(sent(format, { messages, accepts: ['text', 'audio'] }).slice(2)),
  );
  t.strictSame(
    written.map((each) => each.includes('"AAAA"')),
    [true, false, false, true, true],
  );
  for (const each of written) t.ok(each.includes('[audio audio/wav, 3 bytes]'));
});

t.test('sends a text file as text if the format has no form for it', async (t) => {
  const json = Buffer.from('{"a":1}').toString('base64');
  for (const format of FORMATS) {
    const request = {
      messages: [user(fileOf('document', 'application/json', json))],
      accepts: ['text' as const],
    };
    t.ok(JSON.stringify(sent(format, request)).includes('{\\"a\\":1}'), format.name);
    const blank = { messages: [user(fileOf('document', 'application/json', 'IAo='))] };
    t.match(JSON.stringify(sent(format, blank)), /\(empty file\)/, format.name);
  }
});
