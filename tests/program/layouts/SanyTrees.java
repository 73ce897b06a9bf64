import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Files;
import java.util.TreeSet;
import tla2sany.configuration.Configuration;
import tla2sany.parser.SyntaxTreeNode;
import tla2sany.parser.TLAplusParser;
import tla2sany.st.Location;
import tla2sany.st.TreeNode;
import util.ToolIO;

/**
 * Parses each file named on stdin with SANY and prints a line: `rejected`, or where each expression is whose extent
 * depends on columns, sorted. One JVM parses thousands of modules.
 *
 * After a change: javac --release 8 -g:none -cp tla2tools.jar SanyTrees.java
 */
public final class SanyTrees {
    private static void collect(SyntaxTreeNode node, TreeSet<String> found) {
        String kind = node.getImage();
        if (kind.matches("N_(ConjList|DisjList|ConjItem|DisjItem|InfixExpr|PrefixExpr|ParenExpr|IfThenElse|LetIn)")) {
            Location at = node.getLocation();
            found.add(kind.substring(2) + "@" + at.beginLine() + ":" + at.beginColumn() + "-" + at.endLine() + ":"
                + at.endColumn());
        }
        TreeNode[] below = node.heirs();
        for (int i = 0; below != null && i < below.length; i++) {
            collect((SyntaxTreeNode) below[i], found);
        }
    }

    public static void main(String[] args) throws Exception {
        ToolIO.setMode(ToolIO.TOOL);
        Configuration.load(null);
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        BufferedReader files = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String file = files.readLine(); file != null; file = files.readLine()) {
            byte[] text = Files.readAllBytes(new File(file).toPath());
            String line = "rejected";
            TLAplusParser parser = new TLAplusParser(new ByteArrayInputStream(text));
            if (parser.parse()) {
                TreeSet<String> found = new TreeSet<String>();
                collect((SyntaxTreeNode) parser.rootNode(), found);
                line = "accepted";
                for (String one : found) {
                    line += " " + one;
                }
            }
            out.println(line);
            ToolIO.reset();
        }
        out.flush();
    }
}
