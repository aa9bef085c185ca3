import { defineTexts } from '../../i18n/texts.ts';

export const texts = defineTexts(
  {
    title: 'Diagnostics',
    purpose: 'What in the configuration leads nowhere, before a run finds out.',
    error: { one: '{count} error', other: '{count} errors' },
    warning: { one: '{count} warning', other: '{count} warnings' },
    other: { one: '{count} note', other: '{count} notes' },
    open: 'Open {id}',
    'fix.create': 'Create {id}',
    audit: 'Who removed it',
    'empty.title': 'Everything leads somewhere',
    'empty.text': 'Every agent has its model, every model its provider, and nobody names what is not there.',
  },
  {
    title: '诊断',
    purpose: '配置中无法解析的引用，在运行遇到之前就能看到。',
    error: { other: '{count} 个错误' },
    warning: { other: '{count} 个警告' },
    other: { other: '{count} 条提示' },
    open: '打开 {id}',
    'fix.create': '创建 {id}',
    audit: '谁移除了它',
    'empty.title': '所有引用都有效',
    'empty.text': '每个智能体都有模型，每个模型都有提供商，没有指向不存在的内容。',
  },
);
