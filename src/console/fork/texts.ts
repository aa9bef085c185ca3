import { defineTexts } from '../i18n/texts.ts';

export const texts = defineTexts(
  {
    here: 'Fork here',
    title: 'Go on in another way',
    text: 'A conversation of its own begins with what was said up to here; this one stays as it is.',
    before: { one: '{count} message comes before it', other: '{count} messages come before it' },
    agent: 'Who answers',
    question: 'What is asked instead',
    go: 'Ask in a fork',
    none: 'Before this message nobody asked anything.',
  },
  {
    here: '从此处分叉',
    title: '换一种方式继续',
    text: '新的会话以到此为止的内容开始；当前会话保持不变。',
    before: { other: '此前有 {count} 条消息' },
    agent: '由谁回答',
    question: '改为询问',
    go: '在分叉中询问',
    none: '在此消息之前没有人提问。',
  },
);
