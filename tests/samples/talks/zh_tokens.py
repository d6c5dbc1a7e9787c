from execute_util import image, link, text


def main():
    text("# 第一讲：分词")
    text("语言模型的输入是**词元**的序列。")
    为什么()
    字节对()
    text("## 小结")
    text("- 词元不是单词。")
    text("- 词表大小是一个选择。")


def 为什么():
    text("## 为什么要分词？")
    text("- 字符太多\n- 单词更多")
    text("字节：$256$ 种")
    文本 = "你好"
    字节 = list(文本.encode("utf-8"))  # @inspect 字节
    text("每个汉字是三个字节。")
    image("stairs.svg", width=300)
    text("<mark>压缩率</mark>是关键。")
    text("用 `@inspect 变量` 显示一个值。")


def 字节对():
    text("## 字节对编码")
    text("1. 统计相邻的一对")
    text("2. 合并最常见的一对")
    text("3. 重复")
    text("多行的文字：\n第一行\n第二行")
    合并数 = 3
    词表 = 256 + 合并数  # @inspect 词表
    text(f"词表有 {词表} 项。")
    text("| 方法 | 长度 |\n|---|---|\n| 字节 | 6 |\n| 词元 | 2 |")
    text("参考："), link("https://example.org/bpe", title="论文")
    text("也见 "), link(为什么)
